import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { docx, mail, pdf } from "../../support/documents.ts";
import { itemsOf, refusalOf, textOf } from "./extracting.ts";

const headers = {
  From: "Ann Author <ann@example.com>",
  To: "bob@example.com",
  Subject: "=?utf-8?q?Schnee_=E2=9D=84?=",
  Date: "Thu, 29 Feb 2024 10:00:00 +0000",
};

function alternatives(plain: string, html: string): string {
  const part = (type: string, content: string): string[] => [
    "--part",
    `Content-Type: ${type}; charset=utf-8`,
    "",
    ...content.split("\n"),
  ];
  return [
    "From: a@example.com",
    "Subject: S",
    'Content-Type: multipart/alternative; boundary="part"',
    "",
    ...part("text/plain", plain),
    ...part("text/html", html),
    "--part--",
    "",
  ].join("\r\n");
}

async function outcomes(name: string, content: Uint8Array): Promise<string[]> {
  return (await itemsOf(name, content)).map((item) =>
    item.kind === "text"
      ? `${item.member}|${item.title}|${item.text.trim()}`
      : `${item.member}|${item.reason}: ${item.detail}`,
  );
}

describe("a mail", () => {
  it("gives subject and body, and each attachment as a member before it", async () => {
    const content = mail(headers, "The body.", [
      ["bill.pdf", pdf(["a bill"])],
      ["notes.txt.gz", gzipSync("packed notes")],
      ["photo.png", Buffer.from("89504e470d0a1a0a0000", "hex")],
      ["bill.pdf", pdf(["another bill"])],
    ]);
    expect(await outcomes("a.eml", content)).toEqual([
      "bill.pdf|bill|a bill",
      "notes.txt.gz|notes|packed notes",
      "photo.png|not text: holds NUL bytes",
      "4-bill.pdf|4-bill|another bill",
      "|Schnee ❄|Schnee ❄\n\nThe body.",
    ]);
    expect(await textOf("a.eml", content)).toMatchObject({
      correspondent: "Ann Author",
      createdDate: "2024-02-29T10:00:00.000Z",
    });
  });

  it.each([
    [
      "Thu, 29 Feb 2024 10:00:00 +0200 (CEST (summer))",
      "Thu, 29 Feb 2024 10:00:00 +0200 (CEST (summer))",
    ],
    ["Thu, 29 Feb 2024 10:00:00 +0200 (CEST)", "2024-02-29T08:00:00.000Z"],
    ["Thu,  1 Feb 24 10:00 GMT", "2024-02-01T10:00:00.000Z"],
    ["1 Feb 2024 10:00:00", "2024-02-01T10:00:00.000Z"],
    ["2024-02-01", "2024-02-01"],
    ["05.02.2023", "05.02.2023"],
    ["invoice 12", "invoice 12"],
  ])("has the date of its header, %j, without a zone in UTC", async (written, createdDate) => {
    const content = mail({ ...headers, Date: written }, "The body.");
    expect((await textOf("a.eml", content)).createdDate).toBe(createdDate.slice(0, 40));
  });

  it("is another one with another sender, recipient or date, and the same however it came", async () => {
    const mail = (head: string): string =>
      `Subject: Your statement\r\n${head}\r\n\r\nYour statement of this month is ready.`;
    const head =
      "Date: Mon, 2 Sep 2024 10:00:00 +0200\r\nFrom: bank@example.com\r\nTo: ada@example.com";
    const beyondOf = async (other: string): Promise<string | undefined> => {
      const [item] = await itemsOf("a.eml", mail(other));
      return item?.kind === "text" ? item.beyond : undefined;
    };
    const first = await beyondOf(head);
    expect(first).toMatch(/^[\da-f]{64}$/);
    for (const [from, to] of [
      ["2 Sep", "2 Oct"],
      ["bank@", "shop@"],
      ["ada@", "bob@"],
      ["ada@example.com", "ada@example.com\r\nCc: bob@example.com"],
    ] as const)
      expect(await beyondOf(head.replace(from, to)), to).not.toBe(first);
    const way = "Received: from a by b; Mon, 2 Sep 2024 08:00:01 +0000\r\nX-Spam: 0\r\n";
    expect(await beyondOf(way + head)).toBe(first);
    expect(await beyondOf(head.replace("To: ada", "To:\r\n ada"))).toBe(first);
  });

  it("is recognised by its content, also as in a mailbox", async () => {
    const content = mail(headers, "The body.");
    expect((await textOf("1700000000.M1P2.host,S=3:2,S", content)).text).toContain("The body.");
    const mbox = Buffer.concat([Buffer.from("From ann Thu Feb 29 10:00:00 2024\r\n"), content]);
    expect((await textOf("inbox", mbox)).text).toContain("The body.");
    expect((await textOf("notes", "Subject: none\nonly one header of a mail\n\ntext")).title).toBe(
      "notes",
    );
  });

  it("is recognised by the first of its headers when they fill the beginning of the file", async () => {
    const traces = Array.from({ length: 120 }, (_, at) => [`X-Trace-${at}`, "h".repeat(120)]);
    const content = mail(
      {
        Received: "by a.example",
        "Return-Path": "<ann@example.com>",
        ...Object.fromEntries(traces),
        ...headers,
      },
      "The body.",
      [["notes.txt", Buffer.from("attached")]],
    );
    expect(await outcomes("1700000000.M2P2.host,S=3:2,S", content)).toEqual([
      "notes.txt|notes|attached",
      "|Schnee ❄|Schnee ❄\n\nThe body.",
    ]);
  });

  it("is not seen in lines of names and values that never end like headers", async () => {
    const settings = "from: here\nto: there\n".repeat(20);
    expect((await textOf("settings", settings)).text).toBe(settings);
    const log = `date: today\nsubject: none\n${"name: value\nand words\n".repeat(600)}`;
    expect((await textOf("log", log)).text).toBe(log);
  });

  it("is read by its HTML where it has no text", async () => {
    const html = Buffer.from(
      "From: a@example.com\r\nSubject: S\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Hello <b>you</b></p>",
    );
    expect((await textOf("a.eml", html)).text).toBe("S\n\nHello you");
  });

  it("has an answer that stands before or behind the page that it quotes", async () => {
    const quoted = "<html><head><title>no</title></head><body>Do you accept?</body></html>";
    for (const html of [`<p>I accept.</p>${quoted}`, `${quoted}<p>I accept.</p>`]) {
      const { text } = await textOf("a.eml", alternatives("", html));
      expect(text).toContain("I accept.");
      expect(text).toContain("Do you accept?");
      expect(text).not.toContain("no");
    }
  });

  it("is read by the alternative with more words, by the plain one when both have as many", async () => {
    const body = async (plain: string, html: string): Promise<string> =>
      (await textOf("a.eml", alternatives(plain, html))).text.trim();
    const stub = "Your program does not support HTML.";
    const statement = (sum: number): string =>
      `<p>Dear customer,</p><p>your statement of March shows <b>${sum}</b> euros.</p>`;
    expect(await body(stub, statement(12))).toBe(
      "S\n\nDear customer,\n\nyour statement of March shows 12 euros.",
    );
    expect(await body(stub, statement(12))).not.toBe(await body(stub, statement(13)));
    const letter = "Dear customer,\nyour statement of March shows 12 euros.";
    expect(await body(letter, "<p>Read the plain text.</p>")).toBe(`S\n\n${letter}`);
    expect(await body("one two (plain)", "<p>one two (marked)</p>")).toBe("S\n\none two (plain)");
    expect(await body("the plain text", "<p> </p>")).toBe("S\n\nthe plain text");
  });

  it("is read in the charset that its bytes show where it names none", async () => {
    const message = (...lines: string[]): Buffer =>
      Buffer.from(["From: a@example.com", ...lines].join("\r\n"), "latin1");
    const part = (type: string, ...lines: string[]): string[] => [
      "--part",
      `Content-Type: ${type}`,
      ...lines,
    ];
    const russian = "<meta charset=windows-1251><p>\xd1\xed\xe5\xe3</p>";
    const mixed = 'Content-Type: multipart/mixed;\r\n boundary="part"';
    const plain = await textOf("a.eml", message("Subject: S", "", "all of it can be read"));
    for (const [content, text, notes] of [
      [message("Subject: \xdcber", "", "caf\xe9 1"), "Über\n\ncafé 1", ["read as windows-1252"]],
      [
        message("Subject: \xcf", "Content-Type: text/plain; charset=koi8-r", "", "\xd0"),
        "о\n\nп",
        [],
      ],
      [
        message("Subject: \xd1", "Content-Type: text/html", "", russian),
        "С\n\nСнег",
        ["read as windows-1251"],
      ],
      [
        message("Subject: S", mixed, "", ...part("text/html", "", russian), "--part--", ""),
        "S\n\nСнег",
        ["read as windows-1251"],
      ],
      [
        message(
          "Subject: S",
          mixed,
          "",
          ...part("text/plain; charset=utf-8", "", "Gr\xc3\xbc\xc3\x9fe"),
          ...part(
            "Text/Plain",
            "Content-Transfer-Encoding: quoted-printable",
            "",
            "caf=E9 =\r\nau",
          ),
          ...part("text/plain", "Content-Transfer-Encoding: base64", "", "/GJlcg=="),
          ...part("message/rfc822", "", "Subject: \xe9t\xe9", "", "n\xb0 1"),
          "--part--",
        ),
        "S\n\nGrüße\n\ncafé au\n\nüber",
        ["read as windows-1252"],
      ],
    ] as const) {
      const read = await textOf("a.eml", content);
      expect(read).toMatchObject({ notes });
      expect(read.text.trim().startsWith(text)).toBe(true);
      expect(read.beyond).toBe(plain.beyond);
      if (content.includes("rfc822")) expect(read.text).toMatch(/été[^]*n° 1/);
    }
  });

  it("with characters that cannot be read is a copy of the same bytes only", async () => {
    const content = (bytes: string): Buffer =>
      Buffer.from(`From: a\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${bytes}`, "latin1");
    const [one, two] = [
      await textOf("a.eml", content("\xe9")),
      await textOf("a.eml", content("\xe8")),
    ];
    expect([one.text, one.notes]).toEqual([two.text, ["some of its characters cannot be read"]]);
    expect(one.beyond).toMatch(/^[\da-f]{64}$/);
    expect(one.beyond).not.toBe(two.beyond);
  });

  it("has attachments that stay as they are, whatever else names no charset", async () => {
    const attached = Buffer.from("Subject: \xe9\r\n\r\n\xe9", "latin1");
    const content = mail({ ...headers, Subject: "S" }, "body", [["m.eml", attached]]);
    const doubtful = Buffer.concat([
      Buffer.from("X-From: a\r\nSubject: \xe9\r\n", "latin1"),
      content,
    ]);
    expect(await outcomes("a.eml", doubtful)).toEqual(["m.eml|é|é\n\né", "|é|é\n\nbody"]);
  });

  it("is read in time in proportion to its size, whatever its heads hold", async () => {
    const start = "Subject: \xe9\r\n";
    for (const rest of [
      `Content-Type: multipart/mixed${'; boundary="'.repeat(50_000)}\r\n\r\n`,
      `Content-Type: text/plain; charset=${" ".repeat(500_000)};\r\n\r\n`,
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n".repeat(10_000)}`,
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--c\r\n".repeat(10_000)}`,
      `\r\n${"\r\n".repeat(10_000)}`,
    ])
      await textOf("a.eml", Buffer.from(start + rest, "latin1"));
  });

  it("of which not all HTML is read is no whole text", async () => {
    const content = alternatives("five words of plain text", `${"<i></i>".repeat(200)}more`);
    expect(await textOf("a.eml", content, { units: 100 })).toMatchObject({
      text: expect.stringContaining("five words") as string,
      truncated: true,
    });
  });

  it("goes into attached mails, and no deeper than five", async () => {
    let content = mail({ ...headers, Subject: "inmost" }, "core");
    for (let depth = 6; depth > 0; depth--)
      content = mail({ ...headers, Subject: `level ${depth}` }, "", [["m.eml", content]]);
    expect(await outcomes("a.eml", content)).toEqual([
      "m.eml/m.eml/m.eml/m.eml/m.eml/m.eml|too deep: is packed more than 5 times",
      ...[6, 5, 4, 3, 2].map(
        (level) =>
          `${Array<string>(level - 1)
            .fill("m.eml")
            .join("/")}|level ${level}|level ${level}`,
      ),
      "|level 1|level 1",
    ]);
  });

  it("keeps its other members when one is broken, encrypted or needs OCR", async () => {
    const content = mail(headers, "body", [
      ["a.pdf", Buffer.from("%PDF-1.7 nothing")],
      ["b.docx", docx(["kept"])],
      ["c.pdf", pdf([""])],
    ]);
    expect(await outcomes("a.eml", content)).toEqual([
      "a.pdf|broken PDF: cannot be read as PDF",
      "b.docx|b|kept",
      "c.pdf|no text layer (needs OCR): has no text layer and needs OCR",
      "|Schnee ❄|Schnee ❄\n\nbody",
    ]);
  });

  it("marks a member whose text was cut, and not the others", async () => {
    const items = await itemsOf(
      "a.eml",
      mail(headers, "short", [["long.txt", Buffer.from("word ".repeat(100))]]),
      { units: 100 },
    );
    expect(items.map((item) => item.kind === "text" && [item.member, item.truncated])).toEqual([
      ["long.txt", true],
      ["", false],
    ]);
  });

  it("with names of attachments that lead elsewhere gives them as plain names", async () => {
    const content = mail(headers, "b", [
      ["../../etc/passwd", Buffer.from("x")],
      ["..", Buffer.from("y")],
    ]);
    const members = (await itemsOf("a.eml", content)).map(({ member }) => member);
    expect(members).toEqual([".._.._etc_passwd", "attachment-2", ""]);
  });

  it("holds no more text in attachments than sixteen documents", async () => {
    const attachments = Array.from(
      { length: 30 },
      (_, at) => [`${at}.txt`, Buffer.from("word ".repeat(30))] as const,
    );
    const items = await itemsOf("a.eml", mail(headers, "b", attachments), { units: 100 });
    const texts = items.filter(({ kind }) => kind === "text");
    expect([items.length, texts.length]).toEqual([31, 17]);
  });

  it("has attachments that read as their saved copies do, whatever encoding it declares", async () => {
    const russian = Buffer.from("f0d2c9d7c5d420cdc9d2", "hex");
    const part = [
      "From: a@example.com",
      "Subject: S",
      "Content-Type: text/plain; charset=koi8-r",
      "Content-Disposition: attachment; filename=a.txt",
      "Content-Transfer-Encoding: base64",
      "",
      russian.toString("base64"),
    ].join("\r\n");
    const [attached] = await itemsOf("a.eml", part);
    const saved = await textOf("a.txt", russian);
    expect(attached).toMatchObject({ member: "a.txt", text: saved.text, notes: saved.notes });
  });

  it("is refused when it nests parts without end or has no headers", async () => {
    const parts = Array.from(
      { length: 200 },
      (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}`,
    ).join("\r\n");
    expect(await refusalOf("a.eml", `From: a\r\n${parts}`)).toBe(
      "broken mail: cannot be read as mail",
    );
    expect(await refusalOf("a.eml", "")).toBe("broken mail: has no headers of a mail");
  });
});

describe("a mailbox", () => {
  const separator = (time: string): Buffer => Buffer.from(`From ann@example.com ${time}\r\n`);
  const first = mail(headers, "The first.", [["a.txt", Buffer.from("attached")]]);
  const second = mail({ ...headers, Subject: "second" }, "The second.");

  it("of several mails is refused, and is no copy of its first", async () => {
    for (const [name, between] of [
      ["Sent", "\r\n"],
      ["inbox.eml", ""],
    ] as const) {
      const mailbox = Buffer.concat([
        separator("Thu Feb 29 10:00:00 2024"),
        first,
        Buffer.from(between),
        separator("Fri Mar  1 11:00:00 2024"),
        second,
      ]);
      expect(await refusalOf(name, mailbox)).toBe(
        "mailbox: is a mailbox of several mails, of which each must be a file of its own",
      );
      expect(await refusalOf(`${name}.gz`, gzipSync(mailbox))).toMatch(/^mailbox: /);
    }
  });

  it("of one mail is read, whatever its lines begin with", async () => {
    const body = [
      "From here on it snows.",
      "",
      "From 10:00 until noon",
      "it snowed.",
      "",
      "From now on",
      "Note: no snow.",
      "",
      ">From ann@example.com Thu Feb 29 10:00:00 2024",
      "Subject: quoted",
    ].join("\r\n");
    const mailbox = Buffer.concat([separator("Thu Feb 29 10:00:00 2024"), mail(headers, body)]);
    expect((await textOf("inbox", mailbox)).text).toContain("Subject: quoted");
  });

  it("is looked through in time in proportion to its size", async () => {
    const head = "From a 10:00\nFrom: a\nTo: b\n\n";
    for (const lines of [
      "\nFrom 10:00".repeat(50_000),
      `\nFrom ${"10:00 ".repeat(1_000_000)}\n `,
      `\nFrom ${" ".repeat(1_000_000)}`,
      `\nFrom 10:00\n${"x".repeat(1_000_000)}`,
    ]) {
      const mailbox = head + lines;
      expect((await textOf("inbox", mailbox)).text).toContain("From");
    }
  });
});
