/** Names of services by transport and port, as the IANA registry of service names has them: those that a private network meets. */

/** A service with the number that stands for it in keys. */
export interface WellKnownService {
  readonly name: string;
  /** From 1; equal names have equal ids. */
  readonly id: number;
}

const TCP = 6;
const UDP = 17;
const SCTP = 132;

const tcpAndUdp = `7 echo,9 discard,13 daytime,17 qotd,19 chargen,37 time,49 tacacs,53 domain,80 http,88 kerberos,104 acr-nema,111 sunrpc,113 auth,119 nntp,123 ntp,135 epmap,137 netbios-ns,
138 netbios-dgm,139 netbios-ssn,161 snmp,162 snmptrap,177 xdmcp,179 bgp,194 irc,319 ptp-event,320 ptp-general,389 ldap,427 svrloc,443 https,445 microsoft-ds,464 kpasswd,500 isakmp,
546 dhcpv6-client,547 dhcpv6-server,548 afpovertcp,554 rtsp,563 nntps,623 asf-rmcp,631 ipp,636 ldaps,646 ldp,655 tinc,749 kerberos-adm,853 domain-s,873 rsync,989 ftps-data,990 ftps,992 telnets,
1080 socks,1194 openvpn,1352 lotusnote,1433 ms-sql-s,1434 ms-sql-m,1494 ica,1521 ncube-lm,1645 sightline,1646 sa-msg-port,1701 l2tp,1720 h323hostcall,1723 pptp,1812 radius,1813 radius-acct,
1883 mqtt,1900 ssdp,1935 macromedia-fcs,2000 cisco-sccp,2049 nfs,2375 docker,2376 docker-s,2379 etcd-client,2380 etcd-server,2601 discp-client,2947 gpsd,3050 gds-db,3205 isns,
3260 iscsi-target,3268 msft-gc,3269 msft-gc-ssl,3306 mysql,3389 ms-wbt-server,3478 stun,3493 nut,3544 teredo,3632 distcc,3689 daap,3690 svn,3702 ws-discovery,4317 opentelemetry,4369 epmd,
4460 ntske,4500 ipsec-nat-t,4569 iax,4739 ipfix,4840 opcua-tcp,4899 radmin-port,5000 commplex-main,5060 sip,5061 sips,5222 xmpp-client,5269 xmpp-server,5349 stuns,5351 nat-pmp,5353 mdns,5355 llmnr,
5432 postgresql,5666 nrpe,5671 amqps,5672 amqp,5683 coap,5684 coaps,5900 rfb,5984 couchdb,5985 wsman,5986 wsmans,6000 x11,6343 sflow,6379 redis,6514 syslog-tls,6566 sane-port,6653 openflow,
7000 afs3-fileserver,7001 afs3-callback,7070 arcp,8008 http-alt,8080 http-alt,8081 sunproxyadmin,8086 d-s-n,8088 radan-http,8140 puppet,8443 pcsync-https,8554 rtsp-alt,8883 secure-mqtt,8888 ddi-tcp-1,
9000 cslistener,9090 websm,9092 XmlIpcRegSvc,9100 pdl-datastream,9101 bacula-dir,9102 bacula-fd,9103 bacula-sd,9418 git,10000 ndmp,10050 zabbix-agent,10051 zabbix-trapper,10809 nbd,11211 memcache,
11371 hkp,20000 dnp,44818 EtherNet-IP-2,47808 bacnet`;
const tcpOnly = "20 ftp-data,21 ftp,22 ssh,23 telnet,25 smtp,43 nicname,70 gopher,79 finger,110 pop3,143 imap,465 submissions,512 exec,513 login,514 shell,515 printer,543 klogin,544 kshell,587 submission,830 netconf-ssh,993 imaps,995 pop3s";
const udpOnly = "67 bootps,68 bootpc,69 tftp,514 syslog,520 router,3784 bfd-control,4789 vxlan,6081 geneve";
const sctpOnly = "22 ssh,80 http,179 bgp,443 https,2905 m3ua,3868 diameter,5672 amqp,36412 s1-control,36422 x2-control,38412 ng-control";

const services = new Map<number, WellKnownService>();
const ids = new Map<string, number>();
register(tcpAndUdp, TCP, UDP);
register(tcpOnly, TCP);
register(udpOnly, UDP);
register(sctpOnly, SCTP);

/** The service that has this port by registration; undefined for other transports and ports. */
export function wellKnownService(protocol: number, port: number): WellKnownService | undefined {
  return services.get(protocol * 65_536 + port);
}

function register(list: string, ...protocols: readonly number[]): void {
  for (const entry of list.split(",")) {
    const [port = "", name = ""] = entry.trim().split(" ");
    const id = ids.get(name) ?? ids.size + 1;
    ids.set(name, id);
    for (const protocol of protocols) services.set(protocol * 65_536 + Number(port), { name, id });
  }
}
