/**
 * The words that give numbers their meaning, as tables: English, German and French, lower-case. A
 * language is added by adding words here; the patterns are built from the tables.
 */

/** Month words by month, 1 to 12; abbreviations without their full stop. */
const MONTH_WORDS: readonly (readonly string[])[] = [
  ["january", "jan", "januar", "jänner", "janvier", "janv"],
  ["february", "feb", "februar", "février", "fevrier", "févr", "fevr"],
  ["march", "mar", "märz", "maerz", "mär", "mrz", "mars"],
  ["april", "apr", "avril", "avr"],
  ["may", "mai"],
  ["june", "jun", "juni", "juin"],
  ["july", "jul", "juli", "juillet", "juil"],
  ["august", "aug", "août", "aout"],
  ["september", "sept", "sep", "septembre"],
  ["october", "oct", "oktober", "okt", "octobre"],
  ["november", "nov", "novembre"],
  ["december", "dec", "dezember", "dez", "décembre", "decembre", "déc"],
];

/** The month, 1 to 12, of every month word. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  MONTH_WORDS.flatMap((words, index) => words.map((word): [string, number] => [word, index + 1])),
);

/** Words before a sum of money. With German and French words. */
export const MONEY_WORDS: readonly string[] = [
  "total",
  "subtotal",
  "sub-total",
  "amount",
  "balance",
  "net",
  "gross",
  "price",
  "fee",
  "charge",
  "cost",
  "due",
  "payment",
  "summe",
  "gesamt",
  "gesamtbetrag",
  "gesamtsumme",
  "betrag",
  "rechnungsbetrag",
  "endbetrag",
  "zahlbetrag",
  "zwischensumme",
  "netto",
  "brutto",
  "preis",
  "gebühr",
  "kosten",
  "saldo",
  "zu zahlen",
  "montant",
  "sous-total",
  "solde",
  "brut",
  "prix",
  "frais",
  "coût",
  "à payer",
  "tarif",
];

/**
 * Currency codes that are no word of any of the languages: a whole number beside one is a sum of
 * money.
 */
export const CURRENCY_CODES: readonly string[] = [
  "usd",
  "eur",
  "gbp",
  "jpy",
  "chf",
  "cad",
  "aud",
  "nzd",
  "cny",
  "rmb",
  "hkd",
  "sgd",
  "twd",
  "krw",
  "inr",
  "thb",
  "myr",
  "php",
  "idr",
  "vnd",
  "pkr",
  "bdt",
  "lkr",
  "sek",
  "nok",
  "dkk",
  "pln",
  "czk",
  "huf",
  "bgn",
  "hrk",
  "rub",
  "uah",
  "rsd",
  "aed",
  "qar",
  "kwd",
  "bhd",
  "egp",
  "ngn",
  "kes",
  "zar",
  "tnd",
  "tzs",
  "brl",
  "mxn",
  "ars",
  "clp",
  "uyp",
  "jmd",
  "ttd",
  "crc",
  "euro",
  "euros",
  "dollar",
  "dollars",
];

/**
 * Currency codes that are words too: only a number with two decimals beside one is a sum of money.
 */
export const CURRENCY_WORDS: readonly string[] = [
  "ron",
  "isk",
  "try",
  "gel",
  "sar",
  "omr",
  "ils",
  "ghs",
  "mad",
  "cop",
  "pen",
  "dop",
];

/**
 * Words that may stand between a label and its number, or before the label ("numéro de client").
 */
export const NUMBER_WORDS: readonly string[] = [
  "number",
  "num",
  "no",
  "nr",
  "id",
  "code",
  "ref",
  "reference",
  "nummer",
  "kennung",
  "numéro",
  "numero",
  "n°",
  "nº",
  "référence",
];

/** What kind of thing a label announces; decides the form its number may have. */
export type LabelKind = "document" | "flight" | "booking" | "file" | "account" | "place" | "parcel";

/** The labels of identifiers by kind. With German and French words. */
export const LABELS: Readonly<Record<LabelKind, readonly string[]>> = {
  document: [
    "invoice",
    "inv",
    "receipt",
    "order",
    "po",
    "bill",
    "quote",
    "estimate",
    "credit note",
    "ticket",
    "transaction",
    "rechnung",
    "bestellung",
    "bestell",
    "auftrag",
    "angebot",
    "beleg",
    "gutschrift",
    "lieferschein",
    "vorgang",
    "facture",
    "commande",
    "devis",
    "reçu",
    "avoir",
    "billet",
  ],
  flight: ["flight", "flt", "flug", "vol"],
  booking: [
    "booking",
    "confirmation",
    "conf",
    "pnr",
    "reservation",
    "itinerary",
    "buchung",
    "reservierung",
    "réservation",
  ],
  file: [
    "policy",
    "claim",
    "case",
    "file",
    "docket",
    "permit",
    "licence",
    "license",
    "police",
    "versicherungsschein",
    "aktenzeichen",
    "schaden",
    "dossier",
    "contrat",
    "vertrag",
  ],
  account: [
    "account",
    "acct",
    "customer",
    "member",
    "patient",
    "employee",
    "subscriber",
    "konto",
    "kunden",
    "mitglied",
    "mitglieds",
    "patienten",
    "personal",
    "compte",
    "client",
    "adhérent",
    "abonné",
  ],
  place: ["gate", "seat", "zone", "boarding group", "sitz", "sitzplatz", "siège", "porte"],
  parcel: [
    "tracking",
    "shipment",
    "parcel",
    "consignment",
    "waybill",
    "awb",
    "sendung",
    "paket",
    "colis",
    "suivi",
  ],
};

/** Words before a route written with a dash ("outbound: osl - cdg"). */
export const ROUTE_LABELS: readonly string[] = [
  "out",
  "outbound",
  "outward",
  "ret",
  "return",
  "inbound",
  "depart",
  "departure",
  "departing",
  "arriv",
  "arrival",
  "arriving",
  "hinflug",
  "hinfahrt",
  "rückflug",
  "rückfahrt",
  "abflug",
  "ankunft",
  "aller",
  "retour",
  "départ",
  "arrivée",
];

/**
 * A pattern that matches any of the words, longest first; every character of a word stands for
 * itself.
 */
export function anyOf(words: Iterable<string>): string {
  const longestFirst = [...words].sort((x, y) => y.length - x.length);
  return `(?:${longestFirst.map((word) => word.replaceAll("-", "[\\-]")).join("|")})`;
}
