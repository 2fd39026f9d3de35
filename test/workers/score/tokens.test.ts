import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CATEGORIES, type Category } from "../../../workers/score/token-sets.ts";
import { tokensOf } from "../../../workers/score/tokens.ts";

function expectTokens(
  category: Category,
  cases: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [text, tokens] of Object.entries(cases))
    expect({ text, tokens: tokensOf(text)[category] }).toEqual({ text, tokens });
}

describe("dates", () => {
  it("keep their month", () => {
    expectTokens("dates", {
      "22-nov-2024": ["2024-11-22"],
      "22-dec-2024": ["2024-12-22"],
      "january 2024": ["2024-01"],
      "jan 2024, feb 2024": ["2024-01", "2024-02"],
    });
  });

  it("agree however they are written", () => {
    const written = [
      "14/03/2024",
      "14.3.2024",
      "14-03-24",
      "2024-03-14",
      "2024/3/14",
      "03/14/2024",
      "14 march 2024",
      "14th of march, 2024",
      "14 mar. 2024",
      "march 14, 2024",
      "mar 14th 2024",
      "14-mar-24",
      "14. märz 2024",
      "14. maerz 2024",
      "14 mars 2024",
      "2024-03-14t08:45:00z",
      "(14/03/2024)",
      "on 14/03/2024.",
    ];
    for (const text of written)
      expect({ text, dates: tokensOf(text).dates }).toEqual({ text, dates: ["2024-03-14"] });
  });

  it("keep the written order when day and month could be swapped, save with full stops", () => {
    expectTokens("dates", {
      "3/4/2024": ["03/04/2024"],
      "03-04-24": ["03/04/2024"],
      "03.04.2024": ["2024-04-03"],
      "4/4/2024": ["2024-04-04"],
    });
  });

  it("know German and French months", () => {
    expectTokens("dates", {
      "1. dezember 2023": ["2023-12-01"],
      "1er août 2023": ["2023-08-01"],
      "5 février 2024": ["2024-02-05"],
      "jänner 2024": ["2024-01"],
    });
  });

  it("are only days that the calendar has, and never a part of a longer number", () => {
    expectTokens("dates", {
      "31/11/2024": [],
      "9703-13.77": [],
      "2024-13-01": [],
      "10.0.0.12": [],
      "192.168.10.24": [],
      "7-1-2-2024": [],
      "12/05/123": [],
      "30 february 2024": ["2024-02"],
      "price 1585.63 march 2021": ["2021-03"],
      "16:49:30 march 2022": ["2022-03"],
      "12 may 20 guests": [],
    });
  });
});

describe("times", () => {
  it("come on the clock of 24 hours", () => {
    expectTokens("times", {
      "8:45 pm": ["20:45"],
      "8:45p.m.": ["20:45"],
      "12:05am": ["00:05"],
      "12:05 pm": ["12:05"],
      "22:28am": ["22:28"],
      "08:45": ["08:45"],
      "16:29:30": ["16:29:30"],
      "3:16:30": ["03:16:30"],
      "0845 hrs": ["08:45"],
      "0845h": ["08:45"],
      "9 uhr": ["09:00"],
      "14.30 uhr": ["14:30"],
      "14h30": ["14:30"],
      "2024-03-14t08:45:00z": ["08:45:00"],
    });
  });

  it("are only times that a day has", () => {
    expectTokens("times", {
      "24:18": [],
      "10:75": [],
      "0970 hrs": [],
      "8:45": [],
      "1:20:300": [],
      "a08:45": [],
    });
  });
});

describe("amounts", () => {
  it("agree with decimal point, comma or apostrophe", () => {
    for (const text of [
      "$1,234.56",
      "1.234,56 €",
      "1,234.56",
      "1.234,56",
      "1'234.56",
      "chf 1'234.56",
      "chf 1’234.56",
      "total 1’234.56",
      "1 234,56 €",
      "total 1 234.56",
      "eur 1234,56",
      "1234.56 usd",
      "1,234.56usd",
      "total: 1234.56",
      "€ 1.234,56",
      "1234,560 €",
    ]) {
      expect({ text, amounts: tokensOf(text).amounts }).toEqual({ text, amounts: ["1234.56"] });
    }
  });

  it("are no references where only some thousands are set apart", () => {
    for (const [text, amount] of [
      ["$4676,388.46", "4676388.46"],
      ["total 4676,388.46 due", "4676388.46"],
      ["4676.388,46 €", "4676388.46"],
      ["$46761,388,000.46", "46761388000.46"],
    ] as const)
      expect({ text, ...tokensOf(text) }).toMatchObject({
        text,
        amounts: [amount],
        references: [],
      });
  });

  it("with thousands set apart by a space are one sum, as a quantity and a price are", () => {
    expectTokens("amounts", {
      "gesamt 9 234,56 €": ["9234.56"],
      "somme 12 345 678,90": ["12345678.90"],
      "2 148,20 €": ["2148.20"],
      "12 500 €": ["12500.00"],
      "12 500 eur due": ["12500.00"],
      "12 500 items": [],
      "€ 12 500 items": ["12.00"],
      "2024 148,20": ["148.20"],
      "call 030 148,20": ["148.20"],
      "1 234,567 €": ["234567.00"],
      "12,50 148,20": ["148.20"],
    });
  });

  it("before a currency are sums also where another one follows", () => {
    expectTokens("amounts", {
      "total 20 € 60 €": ["20.00", "60.00"],
      "20 eur 60 eur": ["20.00", "60.00"],
      "30 € 40 € 50 €": ["30.00", "40.00", "50.00"],
      "55,- €": ["55.00"],
      "total: 95,- eur": ["95.00"],
      "1’234.– chf": ["1234.00"],
      "20,-- €": ["20.00"],
      "customer 123456 ¥ 8842.50 ¥ 4981.": ["4981.00", "8842.50"],
    });
  });

  it("agree with and without decimals", () => {
    expectTokens("amounts", {
      $30: ["30.00"],
      "$30.": ["30.00"],
      "$30.00": ["30.00"],
      "30 eur": ["30.00"],
      "€ 1,000": ["1000.00"],
      "$9.5": ["9.50"],
      "₹1,00,000.00": ["100000.00"],
      "$0,125": ["0.125"],
    });
  });

  it("are known by a money word in three languages, by a currency or by their form", () => {
    expectTokens("amounts", {
      "total due today is 48.20": ["48.20"],
      "gesamtbetrag: 48,20": ["48.20"],
      "montant 48,20": ["48.20"],
      "zu zahlen 48,20": ["48.20"],
      "148.20": ["148.20"],
      "48.20": [],
      "48.20 cop": ["48.20"],
      "try 400 times": [],
      "12 cop cars": [],
      "net 19.00 %": [],
      "seat b12 € 64": ["64.00"],
      "24.50 eur 3163-493.23": ["24.50"],
      "version 1.2.3": [],
      "ab-148.20": [],
      "total 12 and then 48.20": [],
      "subtotals 48.20": [],
    });
  });
});

describe("identifiers", () => {
  it("follow a label, without their separators", () => {
    expectTokens("identifiers", {
      "invoice number: nw-20417 date": ["nw20417"],
      "invoice no. # 2024/001.": ["2024001"],
      "rechnungs-nr.: 20417": ["20417"],
      "rechnungsnummer 20417": ["20417"],
      "facture n° f-20417": ["f20417"],
      "flight qx118": ["qx118"],
      "booking ref: zkt9qf": ["zkt9qf"],
      "policy no pp-889": ["pp889"],
      "account: 55810234": ["55810234"],
      "numéro de client : 8812": ["8812"],
      "kundennummer: 8812": ["8812"],
      "gate b12, seat 14a": ["14a", "b12"],
      "card **** 1234": ["1234"],
      xxxx1234: ["1234"],
      "tracking: 1z209494177": ["1z209494177"],
      "boarding group 4": ["4"],
    });
  });

  it("are never plain words", () => {
    expectTokens("identifiers", {
      "order before": [],
      "invoice date": [],
      "booking holiday": [],
      "case study": [],
      "policy no study": [],
      "order river ahead of time": [],
      "customer of 1234": [],
      "account 1234": [],
    });
  });

  it("are never dates or sums of money", () => {
    expectTokens("identifiers", {
      "invoice 14/03/2024": [],
      "order 2024-03-14": [],
      "bill 148.20": [],
      "ticket 24.50 eur": [],
      "order march 2024": [],
    });
  });
});

describe("references", () => {
  it("are long numbers and grouped numbers, each once, and neither dates nor sums of money", () => {
    expectTokens("references", {
      "267716922": ["267716922"],
      "5733-856.33": ["573385633"],
      "123456-789": ["123456789"],
      "12345": [],
      "2024-03-14": [],
      "$148.20": [],
      "total 5174.33": [],
      "95,467.98 usd": [],
      "1.234.567,89": [],
    });
  });

  it("stay when a label makes the number an identifier too, for the label may be misread", () => {
    expect(tokensOf("account: 55810234")).toMatchObject({
      identifiers: ["55810234"],
      references: ["55810234"],
    });
    expect(tokensOf("accnunt: 55810234")).toMatchObject({
      identifiers: [],
      references: ["55810234"],
    });
  });
});

describe("routes", () => {
  it("have a direction", () => {
    expectTokens("routes", {
      "from osl to cdg": ["osl>cdg"],
      "from cdg to osl": ["cdg>osl"],
      "ret: osl – bsk": ["osl>bsk"],
      "outbound osl-cdg": ["osl>cdg"],
      "von osl nach cdg": ["osl>cdg"],
      "hinflug: osl - cdg": ["osl>cdg"],
      "from time to time": [],
      "check osl - cdg": [],
      "from a to toe": [],
      "from within to beyond": [],
    });
  });
});

describe("digits of other scripts", () => {
  const scripts = {
    Arabic: 0x660,
    Persian: 0x6f0,
    Devanagari: 0x966,
    Thai: 0xe50,
    "full-width": 0xff10,
    // Two units each, and five scripts in a row.
    "mathematical bold": 0x1d7ce,
    "mathematical monospace": 0x1d7f6,
  };
  const bill = "pos. 77 on 14/03/2024 at 08:45, invoice no. ab-100239, 1,250.60 eur, $148.20";
  const written = (text: string, zero: number): string =>
    text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

  it.each(Object.entries(scripts))("are read as ASCII digits: %s", (_, zero) => {
    expect(tokensOf(bill)).toMatchObject({
      dates: ["2024-03-14"],
      times: ["08:45"],
      amounts: ["1250.60", "148.20"],
      identifiers: ["ab100239"],
    });
    expect(tokensOf(written(bill, zero))).toEqual(tokensOf(bill));
  });

  it("have the separators of their script", () => {
    expectTokens("amounts", {
      "١٬٢٥٠٫٥٠": ["1250.50"],
      "1250٫50": ["1250.50"],
      "１，２５０．５０": ["1250.50"],
      // A comma of the sentence.
      "共148，20年": [],
    });
    expectTokens("dates", {
      "２０２４－０３－１４": ["2024-03-14"],
      "１４／０３／２０２４": ["2024-03-14"],
    });
    expectTokens("times", { "０８：４５": ["08:45"] });
  });
});

describe("all categories", () => {
  it("hold distinct tokens in order, for any text", () => {
    const piece = fc.constantFrom(
      "invoice ",
      "no. ",
      "12",
      "3.5",
      "/",
      "-",
      ".",
      ",",
      ":",
      " ",
      "march ",
      "€",
      " eur",
      "total ",
      "x",
      "from osl to cdg ",
      "pm",
      "xxxx",
      "\uE000",
      "٣",
      "𝟗",
      "，",
      "t",
      "h",
      "'",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const sets = tokensOf(pieces.join(""));
        for (const category of CATEGORIES)
          expect(sets[category]).toEqual([...new Set(sets[category])].sort());
        for (const identifier of sets.identifiers) expect(identifier).toMatch(/\d/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the time to read tokens", () => {
  const repeated: readonly string[] = [
    "1",
    " ",
    "a",
    "*",
    "x",
    "-",
    "a1",
    "1 ",
    "1:",
    "1'",
    "1,111",
    "$1,11",
    "1/1/",
    "-12",
    "march ",
    "march 1",
    "1 march ",
    "total ",
    "total 12.50 ",
    "invoice no. # ",
    "number no nr ",
    "12:30 ",
    "1 h ",
    "eur ",
    "out ab-",
    "from ab to ",
    "€",
    "1.",
    "invoice a-1",
    ".",
    "٣",
    "𝟗",
    "１，",
  ];
  const heads: readonly string[] = ["", "total 1", "invoice "];

  it.each(repeated)("grows with the length of the text, not its square, for many of %j", (unit) => {
    for (const head of heads) {
      const textOf = (length: number): string => `${head}${unit.repeat(length / unit.length)}x`;
      const [parts, whole] = [Array.from({ length: 8 }, () => textOf(20_000)), [textOf(160_000)]];
      let [partsMs, wholeMs] = [Infinity, Infinity];
      // As long as its eight parts when linear, eight times that when quadratic. What else the
      // machine does only adds, so the least of some rounds counts.
      const isLinear = (): boolean => wholeMs < Math.max(4, 4 * partsMs);
      for (let round = 0; round < 10 && (round === 0 || !isLinear()); round++) {
        partsMs = Math.min(partsMs, timeOf(parts));
        wholeMs = Math.min(wholeMs, timeOf(whole));
      }
      expect([isLinear(), partsMs, wholeMs]).toEqual([true, partsMs, wholeMs]);
    }
  });
});

/** Milliseconds of CPU time of this thread alone: on a busy machine it waits for its turns. */
function timeOf(texts: readonly string[]): number {
  const start = process.threadCpuUsage();
  for (const text of texts) tokensOf(text);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}
