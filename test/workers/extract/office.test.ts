import { describe, expect, it } from "vitest";
import { docx, epub, odt, zip } from "../../support/documents.ts";
import { itemsOf, refusalOf, textOf } from "./extracting.ts";

/** An archive whose member is `times` MiB of spaces. */
function bomb(member: string, mib: number): Uint8Array {
  return zip({ "word/x": "", [member]: Buffer.alloc(mib * 2 ** 20, 32) });
}

/** The bytes with one of the packed ones changed. */
function damaged(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

describe("a zip archive without a document", () => {
  it("is a failure under the name of a document, and another type under any other", async () => {
    const archive = zip({ "[Content_Types].xml": "<Types/>", "a.xml": "<a/>" });
    for (const name of ["a.docx", "a.DOTX", "a.odt"])
      expect(await itemsOf(name, archive)).toMatchObject([{ kind: "skipped", failure: true }]);
    for (const name of ["a", "a.bin2"])
      expect(await itemsOf(name, archive)).toMatchObject([{ kind: "skipped", failure: false }]);
  });
});

describe("an element of more attributes than a worker has memory for", () => {
  it("is refused", async () => {
    const attributes = Array.from({ length: 10_001 }, (_, at) => `a${at}=""`).join(" ");
    const more = { "word/document.xml": `<w:document ${attributes}></w:document>` };
    const refusal = "broken XML: has an element of more than 10,000 attributes";
    expect(await refusalOf("a.docx", docx([], { more }))).toBe(refusal);
    expect(await refusalOf("a.xml", `<a ${attributes}>`)).toBe(refusal);
  });
});

describe("a DOCX", () => {
  it("gives its paragraphs, tables and notes, with its title and date", async () => {
    const body =
      "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>left</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>right</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    const more = {
      "word/footnotes.xml": "<w:footnotes><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnotes>",
    };
    const text = await textOf(
      "a.docx",
      docx(["One & two", "three"], { title: "A Title", body, more }),
    );
    expect(text.text.split(/\s+/)).toEqual([
      "left",
      "right",
      "One",
      "&",
      "two",
      "three",
      "a",
      "note",
      "",
    ]);
    expect(text).toMatchObject({
      title: "A Title",
      createdDate: "2024-02-29T10:00:00Z",
      truncated: false,
      member: "",
    });
  });

  it("leaves out deletions, field codes and the second rendering of a text box", async () => {
    const body =
      "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r>" +
      "<mc:AlternateContent><mc:Choice><w:r><w:t>box</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>box</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>";
    expect((await textOf("a.docx", docx(["kept"], { body }))).text).toBe("box\nkept\n");
  });

  it("says once what was moved, and has its hyphens and text boxes apart", async () => {
    const run = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`;
    const body =
      `<w:p><w:pPr><w:rPr><w:moveFrom/></w:rPr></w:pPr><w:moveFrom>${run("moved")}</w:moveFrom>${run("first")}</w:p>` +
      `<w:p><w:moveTo>${run("moved")}</w:moveTo><w:del><w:r><w:noBreakHyphen/></w:r></w:del></w:p>` +
      "<w:p><w:r><w:t>e</w:t><w:noBreakHyphen/><w:t>mail</w:t><w:ptab/><w:t>right</w:t></w:r>" +
      `<w:r><w:txbxContent><w:p>${run("box")}</w:p></w:txbxContent></w:r><constructor/></w:p>`;
    const { text } = await textOf("a.docx", docx(["kept"], { body }));
    expect(text).toBe("first\nmoved\ne-mail\tright\nbox\n\nkept\n");
  });

  it("has the answers of its forms and the signs of symbol fonts", async () => {
    const field = (data: string): string =>
      `<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r><w:r><w:instrText>FORM</w:instrText></w:r></w:p>`;
    const box = (state: string): string => field(`<w:checkBox>${state}</w:checkBox>`);
    const list = (result: string): string =>
      field(
        `<w:ddList>${result}<w:listEntry w:val="Basic"/><w:listEntry w:val="Full"/></w:ddList>`,
      );
    const body = [
      box('<w:default w:val="0"/><w:checked w:val="1"/>'),
      box('<w:default w:val="1"/><w:checked w:val="0"/>'),
      box("<w:checked/>"),
      box('<w:default w:val="false"/>'),
      list('<w:result w:val="1"/>'),
      list(""),
      '<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:char="no"/></w:r></w:p>',
    ];
    const { text } = await textOf("a.docx", docx(["end"], { body: body.join("") }));
    expect(text).toBe("\u2612\n\u2610\n\u2612\n\u2610\nFull\nBasic\n\uf0fe\nend\n");
  });

  it("has its formulas, whose parts stay apart", async () => {
    const run = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`;
    const body = `<w:p><m:oMathPara><m:oMath>${run("x=12+")}<m:f><m:num>${run("1")}</m:num><m:den>${run("2")}</m:den></m:f><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub/><m:sup/><m:e>${run("y")}</m:e></m:nary></m:oMath></m:oMathPara></w:p>`;
    const { text } = await textOf("a.docx", docx(["end"], { body }));
    expect(text).toBe("x=12+(1)/(2)∑_()^() y\nend\n");
  });

  it("leaves out what is hidden", async () => {
    const run = (properties: string, text: string): string =>
      `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
    const body =
      `<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>${run("<w:vanish/>", "hidden")}${run('<w:vanish w:val="0"/>', "shown ")}` +
      run("<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>", "again ") +
      `<w:r><w:txbxContent><w:p>${run("<w:vanish/>", "hidden")}</w:p></w:txbxContent><w:t>behind</w:t></w:r></w:p>`;
    const { text } = await textOf("a.docx", docx(["end"], { body }));
    expect(text).toBe("shown again \n\nbehind\nend\n");
  });

  it("that inserts another file says so, and is a copy of the same bytes only", async () => {
    const text = await textOf("a.docx", docx(["end"], { body: '<w:altChunk r:id="rId1"/>' }));
    expect(text).toMatchObject({
      text: "end\n",
      truncated: false,
      beyond: expect.any(String),
      notes: ["holds another file whose text was not read"],
    });
    expect((await textOf("a.docx", docx(["end"]))).beyond).toBeUndefined();
  });

  it("is read from the main part and its notes wherever its package has them", async () => {
    const document = (text: string): string =>
      `<w:document><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:document>`;
    const relationship = (type: string, target: string): Record<string, string> => ({
      "[Content_Types].xml": "<Types/>",
      "_rels/.rels": `<Relationships><Relationship Type="http://x/metadata/core-properties" Target="docProps/core.xml"/><Relationship Type="${type}" Target="${target}"/></Relationships>`,
    });
    const transitional =
      "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
    const strict = "http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument";
    const online = {
      ...relationship(transitional, "/word/document2.xml"),
      "word/document2.xml": document("words"),
      "word/footnotes.xml": document("note"),
    };
    expect((await textOf("a.docx", zip(online))).text).toBe("words\nnote\n");
    const elsewhere = {
      ...relationship(strict, "./main/text.xml"),
      "main/text.xml": document("words"),
      "main/endnotes.xml": document("note"),
    };
    expect((await textOf("a", zip(elsewhere))).text).toBe("words\nnote\n");
    const lost = {
      ...relationship(transitional, "word/lost.xml"),
      "word/document.xml": document("words"),
    };
    expect((await textOf("a.docx", zip(lost))).text).toBe("words\n");
    const workbook = {
      ...relationship(transitional, "xl/workbook.xml"),
      "xl/workbook.xml": document("cells"),
    };
    expect(await refusalOf("a", zip(workbook))).toBe(
      "other type: is a zip archive without a Word document",
    );
  });

  it("is recognised by its content under any name", async () => {
    expect(await textOf("letter", docx(["words"]))).toMatchObject({
      text: "words\n",
      title: "letter",
    });
    expect((await textOf("letter.txt", docx(["words"]))).text).toBe("words\n");
  });

  it("is cut and says so when it is longer than a document keeps", async () => {
    const text = await textOf("a.docx", docx(Array<string>(100).fill("many words")), {
      units: 100,
    });
    expect([text.text.length, text.truncated, text.notes]).toEqual([
      100,
      true,
      ["truncated to 100 characters"],
    ]);
  });

  it("is refused when it is encrypted, damaged, cut off or a bomb", async () => {
    const sound = docx(["words"]);
    const encrypted = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(2_000)]);
    expect(await refusalOf("a.docx", encrypted)).toBe("encrypted: is encrypted");
    expect(await refusalOf("a.docx", sound.subarray(0, -30))).toBe(
      "broken DOCX: cannot be read as DOCX",
    );
    const at = Buffer.from(sound).indexOf("word/document.xml") + "word/document.xml".length + 5;
    expect(await refusalOf("a.docx", damaged(sound, at))).toBe(
      "broken DOCX: cannot be read as DOCX",
    );
    expect(await refusalOf("a.docx", bomb("word/document.xml", 65))).toBe(
      "too large: unpacks to more than 64 MiB",
    );
    expect(await refusalOf("table.bin2", zip({ "[Content_Types].xml": "", "xl/x.xml": "" }))).toBe(
      "other type: is a zip archive without a Word document",
    );
    expect(await refusalOf("things", zip({ "a.txt": "a" }))).toBe("other type: is a zip archive");
  });

  it("does not expand what a document type declares", async () => {
    const laughs = Array.from(
      { length: 20 },
      (_, at) => `<!ENTITY l${at + 1} "&l${at};&l${at};&l${at};&l${at};">`,
    );
    const xml = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">${laughs.join("")}]><w:document><w:p><w:r><w:t>&l20; end</w:t></w:r></w:p></w:document>`;
    const text = await textOf("a.docx", docx([], { more: { "word/document.xml": xml } }));
    expect(text.text).toBe("&l20; end\n");
  });
});

describe("an ODT", () => {
  it("gives its paragraphs, with its title and date", async () => {
    const body =
      '<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h>Head</text:h><text:p>a<text:tab/>b<text:s text:c="1000000000"/>c<text:line-break/>d<office:annotation><text:p>aside</text:p></office:annotation></text:p>';
    const text = await textOf("a.odt", odt(["last"], { body }));
    expect(text.text).toBe("Head\na\tb c\nd\nlast\n");
    expect(text).toMatchObject({ title: "An ODT", createdDate: "2024-03-01T10:00:00" });
  });

  it("keeps notes and text boxes apart from the words around them", async () => {
    const body =
      "<text:p>word<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note> more<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box><svg:title>picture</svg:title></draw:frame>end<constructor/></text:p>" +
      "<text:table-of-content-source><text:index-title-template>Contents</text:index-title-template></text:table-of-content-source>";
    const { text } = await textOf("a.odt", odt(["last"], { body }));
    expect(text).toBe("word 1 A note.\n more box\nend\nlast\n");
  });

  it("has the answers of its forms with the names of their fields", async () => {
    const fields = [
      'text form:name="name" form:value="Eve" form:current-value="Ann"',
      'text form:name="empty"',
      'textarea form:name="why" form:value="so"',
      'password form:name="pin" form:current-value="1234"',
      'checkbox form:name="agree" form:current-state="checked"',
      'checkbox form:name="more" form:current-state="unchecked"',
      'radio form:name="size" form:value="large" form:current-selected="true"',
      'radio form:name="size" form:value="small"',
    ].map((field) => `<form:${field}/>`);
    const list =
      '<form:listbox form:name="country"><form:option form:label="Germany"/><form:option form:label="France" form:current-selected="true"/></form:listbox>';
    const body = `<office:forms><form:form form:name="Form">${fields.join("")}${list}</form:form></office:forms>`;
    const { text } = await textOf("a.odt", odt(["end"], { body }));
    expect(text).toBe("name: Ann\nwhy: so\nagree: \u2612\nsize: large\ncountry: France\nend\n");
  });

  it("has its formulas as they were typed; by their signs alone it is no exact copy", async () => {
    const object = (at: number): string =>
      `<text:p>so<draw:frame><draw:object xlink:href="./Object ${at}"/></draw:frame>it is</text:p>`;
    const math = (note: string): string =>
      `<math><semantics><mrow><mi>x</mi><mo>=</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow>${note}</semantics></math>`;
    const typed = '<annotation encoding="StarMath 5.0">x = {1} over {2}</annotation>';
    const read = async (more: Record<string, string>) =>
      await textOf("a.odt", odt([], { body: object(1), more }));
    const noted = await read({ "Object 1/content.xml": math(typed) });
    expect([noted.text, noted.beyond]).toEqual(["so x = {1} over {2} it is\n", undefined]);
    expect(await read({ "Object 1/content.xml": math("") })).toMatchObject({
      text: "so x = 1 2 it is\n",
      beyond: expect.any(String),
    });
    const chart = await read({
      "Object 1/content.xml": "<office:document><a>b</a></office:document>",
    });
    expect([chart.text, chart.beyond]).toEqual(["soit is\n", undefined]);
    expect((await read({})).text).toBe("soit is\n");
  });

  it("with a formula that unpacks to too much is read without it", async () => {
    const more = { "Object 1/content.xml": Buffer.alloc(65 * 2 ** 20, 32) };
    const body = '<text:p><draw:object xlink:href="Object 1"/></text:p>';
    expect(await textOf("a.odt", odt(["end"], { body, more }))).toMatchObject({
      text: "\nend\n",
      beyond: expect.any(String),
    });
  });

  it("is recognised by its content under any name", async () => {
    expect((await textOf("letter.txt", odt(["words"]))).text).toBe("words\n");
  });

  it("is refused when it is encrypted, damaged or a bomb", async () => {
    const manifest =
      "<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>";
    expect(
      await refusalOf("a.odt", odt(["x"], { more: { "META-INF/manifest.xml": manifest } })),
    ).toBe("encrypted: is encrypted");
    const asOne = {
      mimetype: "application/vnd.oasis.opendocument.text",
      "encrypted-package": "\x01\x02",
      "META-INF/manifest.xml": manifest,
    };
    expect(await refusalOf("a.odt", zip(asOne))).toBe("encrypted: is encrypted");
    expect(await refusalOf("a.odt", odt(["x"]).subarray(0, 200))).toBe(
      "broken ODT: cannot be read as ODT",
    );
    expect(await refusalOf("a.odt", bomb("content.xml", 65))).toBe(
      "too large: unpacks to more than 64 MiB",
    );
  });
});

describe("an EPUB", () => {
  const chapters = ["<html><body><h1>First</h1><p>one</p></body></html>", "<p>two</p>"];

  it("gives its chapters in reading order, with its title and author", async () => {
    const text = await textOf("a.epub", epub(chapters));
    expect(text.text.split(/\s+/)).toEqual(["First", "one", "two"]);
    expect(text).toMatchObject({ title: "A Book", correspondent: "An Author" });
    expect((await textOf("book", epub(chapters))).text).toBe(text.text);
  });

  it("is cut between chapters and says so", async () => {
    const book = epub(Array<string>(10).fill(`<p>${"word ".repeat(50)}</p>`));
    expect(await textOf("a.epub", book, { units: 300 })).toMatchObject({ truncated: true });
  });

  it("is XHTML: an empty element ends where it stands", async () => {
    const pages = Array.from({ length: 300 }, (_, at) => `<a id="p${at}"/><p>page ${at}</p>`);
    const text = await textOf("a.epub", epub([`<script src="x.js"/>${pages.join("")}`]));
    expect(text).toMatchObject({ truncated: false, notes: [] });
    expect(text.text.endsWith("page 299")).toBe(true);
  });

  it("that lacks a chapter or a part of one is no whole text, and says so", async () => {
    const deep = `<p>words</p>${"<div>".repeat(300)}inmost${"</div>".repeat(300)}`;
    expect(await textOf("a.epub", epub([deep]))).toMatchObject({
      truncated: true,
      notes: ["read up to 200 levels of a chapter"],
    });
    const long = `<p>words</p><!--${" ".repeat(4 * 2 ** 20)}-->`;
    expect(await textOf("a.epub", epub([long]))).toMatchObject({
      truncated: true,
      notes: ["read up to 4 MiB of a chapter"],
    });
    const packaged = {
      "OEBPS/book.opf":
        '<package><manifest><item id="a" href="ch%200.xhtml"/><item id="b" href="lost.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
    };
    expect(await textOf("a.epub", epub(["<p>words</p>"], packaged))).toMatchObject({
      text: "words",
      truncated: true,
      notes: ["lacks some of its chapters"],
    });
  });

  it("is refused when its chapters are encrypted, and read when only its fonts are", async () => {
    const encryption = (path: string): Record<string, string> => ({
      "META-INF/encryption.xml": `<encryption><CipherReference URI="${path}"/></encryption>`,
    });
    expect(await refusalOf("a.epub", epub(chapters, encryption("OEBPS/ch 1.xhtml")))).toBe(
      "encrypted: is encrypted",
    );
    expect((await textOf("a.epub", epub(chapters, encryption("OEBPS/a.otf")))).text).toContain(
      "two",
    );
  });

  it("is refused when it names no chapters or unpacks to too much", async () => {
    expect(await refusalOf("a.epub", epub([], { "META-INF/container.xml": "<container/>" }))).toBe(
      "broken EPUB: names no package document",
    );
    expect(await refusalOf("a.epub", epub(["x"]).subarray(0, 300))).toBe(
      "broken EPUB: cannot be read as EPUB",
    );
    expect(await refusalOf("a.epub", bomb("META-INF/container.xml", 65))).toBe(
      "too large: unpacks to more than 64 MiB",
    );
  });
});
