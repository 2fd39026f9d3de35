import { describe, expect, it } from "vitest";
import { refusalOf, textOf } from "./extracting.ts";

async function read(rtf: string): Promise<string> {
  return (await textOf("a.rtf", Buffer.from(rtf, "latin1"))).text;
}

describe("an RTF", () => {
  it("gives what is printed, with its title", async () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}{\colortbl;\red0;}{\*\generator Writer;}{\info{\title A Title}{\author Somebody}}{\header head}
\pard\f0 One\tab two\par caf\'e9 \{braces\} \\ \u8364?\u-10179?\u-8704? \f1 \'d1\'ed\'e5\'e3\f0\par
{\pict 89504e47}{\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}}\cell last\row}`;
    const text = await textOf("a.rtf", Buffer.from(rtf, "latin1"));
    expect(text.text.split(/\s+/)).toEqual([
      "One",
      "two",
      "café",
      "{braces}",
      "\\",
      "€😀",
      "Снег",
      "link",
      "last",
      "",
    ]);
    expect(text.title).toBe("A Title");
  });

  it("gives text boxes and shown objects once, notes apart, and nothing that is not printed", async () => {
    const box = String.raw`before{\shp{\*\shpinst\shpleft0{\sp{\sn a}{\sv b}}{\shptxt box}}{\shprslt{\*\do{\dptxbxtext box}}}}after`;
    const old = String.raw`{\*\do\dptxbx{\dptxbxtext old box\par}}{\object{\*\objdata 00ff}{\result shown}}`;
    const hidden = String.raw`{\deleted gone}{\v not\par{\b shown \'e9\u233?}}\v hid\v0 seen\v hid\plain  again\deleted\v x\v0 x\deleted0 .`;
    const noted = String.raw`word{\footnote A note.}`;
    const text = await read(String.raw`{\rtf1 ${box} ${old} ${hidden} ${noted}}`);
    expect(text.split(/\s+/)).toEqual(
      "before box after old box shown seen again. word A note.".split(" "),
    );
  });

  it("skips what stands for a character in older readers, and binary data", async () => {
    expect(await read(String.raw`{\rtf1\uc2 a\u233 \'81\'82b\uc1\u233 xc}`)).toBe("aébéc");
    expect(await read("{\\rtf1 a{\\pict\\bin4 }}\\b}b}")).toBe("ab");
  });

  it("counts a word or symbol as one character of those that older readers show", async () => {
    expect(await read(String.raw`{\rtf1 12\u160\~EUR a\u8211\endash b\u8211\_c\u233{x}}`)).toBe(
      "12\u00a0EUR a\u2013b\u2013c\u00e9x",
    );
    expect(
      await read(String.raw`{\rtf1\uc2 a\u8212\'81\emdash b\u233\par\par c\uc1\u233\b d}`),
    ).toBe("a\u2014b\u00e9\n\nc\u00e9d");
  });

  it("is read in the character set of its document, its default font or its font's code page", async () => {
    expect(await read(String.raw`{\rtf1\mac caf\'8e}`)).toBe("caf\u00e9");
    expect(await read(String.raw`{\rtf1\pc \'81\'9b}`)).toBe("\u00fc\u00a2");
    expect(await read(String.raw`{\rtf1\pca caf\'82 \'9b \'ff.}`)).toBe("caf\u00e9 \u00f8 \u00a0.");
    expect(await read(String.raw`{\rtf1\ansicpg932 \'83\\ \\ a}`)).toBe("\u30bd \\ a");
    const fonts = String.raw`{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}{\f2\cpg1251 C;}}`;
    expect(
      await read(String.raw`{\rtf1\ansi\deff1${fonts}\'d1{\f0\'d1\plain\'ed}\f0\'d1\f2\'d1}`),
    ).toBe("\u0421\u00d1\u043d\u00d1\u0421");
  });

  it("has footnotes and formulas that readers may ignore, and nothing that is unknown", async () => {
    const note = String.raw`word{\super\chftn{\*\footnote\pard\plain {\chftn} The price is 12.}}{\*\unknown gone}`;
    expect((await read(String.raw`{\rtf1 ${note} end}`)).split(/\s+/)).toEqual(
      "word The price is 12. end".split(" "),
    );
    const formula = String.raw`{\mmath{\*\mmathPr\mdefJc1}{\*\moMathPara{\moMathParaPr{\mjc center}}{\*\moMath{\mr\mscr0 x=12+}{\mf{\mfPr{\mtype lin}}{\mnum{\mr 1}}{\mden{\mr 2}}}}}}`;
    expect(await read(String.raw`{\rtf1 so ${formula}it is}`)).toBe("so  x=12+(1)/(2) it is");
  });

  it("has the answers of its forms", async () => {
    const field = (data: string, shown = ""): string =>
      String.raw`{\field{\*\fldinst FORM {\*\formfield{${data}}}}{\fldrslt ${shown}}}`;
    const list = String.raw`{\*\ffl Basic}{\*\ffl Full}`;
    const fields = [
      String.raw`\fftype1\ffres1\ffdefres0`,
      String.raw`\fftype1\ffres0\ffdefres1`,
      String.raw`\fftype1\ffres25\ffdefres1`,
      String.raw`\fftype2\ffres1${list}`,
      String.raw`\fftype2\ffres25\ffdefres0${list}`,
      String.raw`\fftype2\ffres9${list}`,
    ].map((data) => field(data));
    const text = field(String.raw`\fftype0{\*\ffdeftext none}`, "Ann");
    expect(
      await read(String.raw`{\rtf1 ${fields.join(" ")} ${text} {\header ${fields[0]}}end}`),
    ).toBe("\u2612 \u2610 \u2612 Full Basic  Ann end");
  });

  it("is recognised by its content", async () => {
    expect(await textOf("letter.doc2", "{\\rtf1 words}")).toMatchObject({ text: "words" });
  });

  it("however damaged is read as far as it goes, and refused when it nests without end", async () => {
    expect(await read("{\\rtf1 open {\\b bold")).toBe("open bold");
    expect(await read("{\\rtf1 a}}}} b\\")).toContain("a");
    expect(await read("{\\rtf1 a\\bin999999999 b}")).toBe("a");
    expect(await refusalOf("a.rtf", `{\\rtf1 ${"{".repeat(5_000)}`)).toBe(
      "broken RTF: cannot be read as RTF",
    );
  });

  it("is cut and says so", async () => {
    const text = await textOf("a.rtf", `{\\rtf1 ${"word \\par ".repeat(1_000)}}`, { units: 100 });
    expect([text.text.length, text.truncated]).toEqual([100, true]);
  });
});
