import { describe, expect, it } from "vitest";
import { extractFile, refusalOf, textOf } from "./extracting.ts";

const prose = "Überall lag Schnee, und die Straße war leer. ".repeat(20);
const russian = "Снег лежал повсюду, и улица была пуста.\n".repeat(20);
const chinese = "到处都是雪，街上空无一人。 ".repeat(20);

describe("plain text", () => {
  it.each([
    ["German", prose],
    ["Russian", russian],
    ["Chinese", chinese],
  ])("in UTF-16 without a byte order mark is read, %s", async (_, text) => {
    const little = Buffer.from(text, "utf16le");
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      const read = await textOf("a.txt", bytes);
      expect(read.text).toBe(text);
      expect(read.notes).toEqual(["read as UTF-16 without a byte order mark"]);
    }
  });

  it("is not seen in bytes that hold zeros for other reasons", async () => {
    const words = Buffer.alloc(4_096);
    for (let at = 0; at < words.byteLength; at += 4) words.writeUInt32LE(at * 7_919, at);
    const table = Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at % 5 === 0 ? 0 : 65)));
    for (const bytes of [words, table, Buffer.alloc(100)])
      expect(await refusalOf("a.txt", bytes)).toBe("not text: holds NUL bytes");
  });

  it("is whatever file has text, and its name says what kind", async () => {
    expect(await textOf("main.rs", "fn main() {}")).toMatchObject({
      text: "fn main() {}",
      title: "main.rs",
    });
    expect(await textOf("notes.org", "#+TITLE: My notes\n* One\ntext")).toMatchObject({
      title: "My notes",
    });
    expect((await textOf("notes.org", "* One\ntext")).title).toBe("One");
    const tex = "% note\n\\documentclass{article}\n\\title{On~Snow}\n\\begin{document}Text";
    expect(await textOf("paper.tex", tex)).toMatchObject({ title: "On Snow", text: tex });
  });

  it("under the name of another kind is read, and that is said", async () => {
    expect((await textOf("a.pdf", "only words")).notes).toEqual([
      "read as text, although its name says PDF",
    ]);
  });

  it("behind many comments is no page, and is read at once", async () => {
    for (const [text, title] of [
      [`${"<!-- x -->\n".repeat(700)}# T`, "T"],
      [`${"<!-- x -->".repeat(800)}<p`, "a"],
      [`<!--${" -- >".repeat(1_500)}`, "a"],
    ] as const)
      expect(await extractFile("a.md", text, { alone: false })).toMatchObject({
        kind: "read",
        items: [{ title, text }],
      });
    const page = `${"<!-- x -->\n".repeat(50)}<html><p>words`;
    expect((await textOf("page", page)).text).toBe("words");
  });

  it("is cheap while it is small, and no other kind is", async () => {
    const kinds = await Promise.all(
      (
        [
          ["a.txt", "words"],
          ["b.txt", "word ".repeat(100_000)],
          ["c.txt", "<!doctype html><p>x"],
        ] as const
      ).map(([name, text]) => extractFile(name, text, { alone: false })),
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(["read", "costly", "costly"]);
  });
});

describe("CSV", () => {
  it("gives each cell words of its own, whatever separates and quotes them", async () => {
    for (const delimiter of [",", ";", "\t", "|"]) {
      const rows = ['id,"na,me"', '1,"say ""hi"""', '2,"two\nlines"', '3,"open'];
      const text = rows
        .map((row) => row.replaceAll(/,(?=")|,(?=\d)|(?<=^\w+),/g, delimiter))
        .join("\n");
      expect((await textOf("a.csv", text)).text).toBe(
        'id\tna,me\n1\tsay "hi"\n2\ttwo\nlines\n3\topen',
      );
    }
  });

  it("takes quotes for what they are within a cell, and removes those around one", async () => {
    const rows = ['1,5" pipe,"steel, long"', '2,6" pipe, "copper, new"', '"a" "b",c"', '"",x'];
    expect((await textOf("a.csv", rows.join("\r\n"))).text.split("\r\n")).toEqual([
      '1\t5" pipe\tsteel, long',
      '2\t6" pipe\tcopper, new',
      'a "b"\tc"',
      "\tx",
    ]);
    // Within such a cell, too, a comma separates nothing.
    const listed = '1;5" pipe;"a, b, c"\n2;6" pipe;"d, e, f"';
    expect((await textOf("a.csv", listed)).text.split("\t")).toHaveLength(5);
  });

  it("takes time in proportion to its size, quoted or not", async () => {
    for (const text of [
      '"'.repeat(2_000_001),
      `${"a,".repeat(1_000_000)}"`,
      "a".repeat(2_000_000),
      " ".repeat(2_000_000),
      'a"'.repeat(1_000_000),
    ])
      expect((await textOf("a.csv", text)).text.length).toBeLessThanOrEqual(500_000);
  });
});

describe("CSV with empty cells", () => {
  it("before others is a copy of the same bytes only, since the text has no columns", async () => {
    const debit = await textOf("a.csv", "date,text,in,out\n2024-01-01,Rent,901.00,\n\nend,,,\n");
    const credits = [
      "2024-01-01,Rent,,901.00",
      '2024-01-01,Rent,"",901.00',
      "2024-01-01,Rent, ,901.00",
    ];
    for (const row of credits) {
      const credit = await textOf("a.csv", `date,text,in,out\n${row}\n`);
      expect([debit.beyond, typeof credit.beyond]).toEqual([undefined, "string"]);
    }
  });
});

describe("XML", () => {
  it("is a copy of the same bytes only, since names of elements are no part of the text", async () => {
    const [debit, credit] = await Promise.all(
      ["debit", "credit"].map((name) => textOf("a.xml", `<a><${name}>12.00</${name}></a>`)),
    );
    expect(credit?.text).toBe(debit?.text);
    expect(credit?.beyond).not.toBe(debit?.beyond);
    const other = await textOf("a.plist", '<?xml version="1.0"?><key>AllowRemote</key><true/>');
    expect(other.beyond).toBeDefined();
  });

  it("gives texts and attributes, without namespaces and entities of its own", async () => {
    const xml = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e "boom">]><a xmlns="urn:x"><b unit="kg">12 &amp; more</b><c>&e;</c><!-- no --></a>`;
    expect((await textOf("data", xml)).text.trim().split(/\s*\n\s*/)).toEqual([
      "kg",
      "12 & more",
      "&e;",
    ]);
  });

  it("is read in the encoding that it declares", async () => {
    const xml = Buffer.from('<?xml version="1.0" encoding="ISO-8859-2"?><a>\xb1\xe6</a>', "latin1");
    expect(await textOf("a.xml", xml)).toMatchObject({
      text: "\nąć\n",
      notes: ["read as iso-8859-2"],
    });
  });

  it("takes time in proportion to the white space between its words", async () => {
    const gap = " ".repeat(1_000_000);
    const { text } = await textOf("a.xml", `<a>b${gap}c \n ${gap}\n<d>e</d></a>`, { units: 3e6 });
    expect(text).toBe(`\nb${gap}c\ne\n`);
  });

  it("however deep or damaged is read without harm", async () => {
    const deep = `<a>${"<b>".repeat(300_000)}words`;
    expect((await textOf("a.xml", deep)).text).toContain("words");
    expect((await textOf("a.xml", "<a><b>x</c>&#xffffffff;<")).text).toContain("x");
  });
});

describe("HTML", () => {
  it("is recognised by its content and read in the encoding that it declares", async () => {
    const html = Buffer.from(
      "<!DOCTYPE html><html><head><meta charset=windows-1251><title>\xd1\xed\xe5\xe3</title></head><body><p>\xd1\xed\xe5\xe3</p></body></html>",
      "latin1",
    );
    expect(await textOf("page", html)).toMatchObject({ text: "Снег", title: "Снег" });
  });

  it("declared as ISO-2022-JP is read so, although its bytes are those of ASCII", async () => {
    const html = (characters: string): Buffer =>
      Buffer.from(`<!doctype html><meta charset="ISO-2022-JP"><p>${characters}`, "latin1");
    expect(await textOf("a.html", html("\x1b$B7@Ls\x1b(B"))).toMatchObject({
      text: "契約",
      notes: ["read as iso-2022-jp"],
    });
    expect(await textOf("a.html", html("plain"))).toMatchObject({ text: "plain", notes: [] });
    const utf8 = Buffer.concat([html(""), Buffer.from("契約")]);
    expect(await textOf("a.html", utf8)).toMatchObject({ text: "契約", notes: [] });
  });

  it("declared as UTF-16 in single bytes is not read so", async () => {
    for (const label of ["unicode", "ucs-2", "utf-16", "utf-8"]) {
      const html = Buffer.from(`<!doctype html><meta charset=${label}><p>caf\xe9`, "latin1");
      expect((await textOf("a.html", html)).text).toBe("café");
    }
  });

  it("is source code under the name of such, which its page would not show", async () => {
    const code = "<!DOCTYPE html><html><body><p>Login</p><?php check(3); ?></body></html>";
    for (const name of ["a.php", "a.vue", "a.jsp", "a.php~", "a.php.bak", "a.php.1", "a.b.erb"])
      expect(await textOf(name, code)).toMatchObject({ text: code });
    for (const name of ["a.htm", "a", "a.txt", "a.pdf", "a.html.bak", "a.HTML~", "1.2", "php?id=3"])
      expect(await textOf(name, code)).toMatchObject({ text: "Login" });
  });

  it("that nests deeper than is read is no whole text", async () => {
    const deep = (depth: number): string =>
      `<!doctype html><p>begin${"<div>".repeat(depth)}inmost${"</div>".repeat(depth)}<p>end`;
    expect(await textOf("a.html", deep(100))).toMatchObject({ truncated: false, notes: [] });
    const text = await textOf("a.html", deep(300));
    expect(text).toMatchObject({ truncated: true, notes: ["read up to 200 levels of its HTML"] });
    expect(text.text.split(/\s+/)).toEqual(["begin", "end"]);
  });
});
