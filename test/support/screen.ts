/**
 * What a terminal shows: as much of ECMA-48 as Steward writes. Anything else throws, so that no test
 * passes by what an emulator happens to ignore.
 */

export interface ShownScreen {
  write(text: string): void;
  resize(columns: number, rows: number): void;
  /** The rows, without blanks at their ends. */
  lines(): string[];
  text(): string;
  readonly cursorIsVisible: boolean;
  /** The screen of programs, which leaves the shell's as it was. */
  readonly isAlternate: boolean;
  /** Whether any text was written with colours or emphasis. */
  readonly isStyled: boolean;
  /** Lines that did not fit the columns and ran into the next. */
  readonly overflows: number;
}

interface Page {
  rows: string[][];
  x: number;
  y: number;
}

export function createScreen(startColumns: number, startRows: number): ShownScreen {
  let [columns, height] = [startColumns, startRows];
  const pages = { shell: emptyPage(), program: emptyPage() };
  const state = { alternate: false, cursor: true, styled: false, overflows: 0 };
  let pending = "";
  const page = (): Page => (state.alternate ? pages.program : pages.shell);

  function emptyPage(): Page {
    return { rows: Array.from({ length: height }, () => []), x: 0, y: 0 };
  }

  function lineFeed(): void {
    const own = page();
    own.y += 1;
    if (own.y < height) return;
    own.rows.shift();
    own.rows.push([]);
    own.y = height - 1;
  }

  function put(letter: string): void {
    const own = page();
    if (own.x >= columns) {
      if (state.alternate) state.overflows += 1;
      own.x = 0;
      lineFeed();
    }
    const row = (own.rows[own.y] ??= []);
    while (row.length < own.x) row.push(" ");
    row[own.x] = letter;
    own.x += 1;
  }

  function control(sequence: string): void {
    const own = page();
    const command = sequence.at(-1) ?? "";
    const argument = sequence.slice(0, -1);
    if (command === "m") state.styled = true;
    else if (command === "H" && argument === "") Object.assign(own, { x: 0, y: 0 });
    else if (command === "K" && argument === "")
      own.rows[own.y]?.splice(Math.min(own.x, columns - 1));
    else if (command === "J" && argument === "") {
      own.rows[own.y]?.splice(own.x);
      own.rows.splice(own.y + 1);
      while (own.rows.length < height) own.rows.push([]);
    } else if (argument === "?25") state.cursor = command === "h";
    else if (argument === "?1049") {
      state.alternate = command === "h";
      if (state.alternate) pages.program = emptyPage();
    } else throw new Error(`unknown sequence ESC [ ${sequence}`);
  }

  return {
    write(text) {
      const all = pending + text;
      pending = "";
      for (let at = 0; at < all.length; at += 1) {
        const letter = all[at] as string;
        if (letter === "\u001b") {
          const match = /^\[([?\d;]*[A-Za-z])/.exec(all.slice(at + 1, at + 20));
          if (!match) {
            pending = all.slice(at);
            if (pending.length > 20) throw new Error(`unknown sequence ${JSON.stringify(pending)}`);
            return;
          }
          control(match[1] as string);
          at += match[0].length;
        } else if (letter === "\r") page().x = 0;
        else if (letter === "\n") lineFeed();
        else if (letter < " ") throw new Error(`unknown control ${JSON.stringify(letter)}`);
        else put(letter);
      }
    },
    resize(newColumns, newRows) {
      [columns, height] = [newColumns, newRows];
      for (const own of Object.values(pages)) {
        own.rows.splice(height);
        while (own.rows.length < height) own.rows.push([]);
        own.y = Math.min(own.y, height - 1);
      }
    },
    lines: () =>
      page().rows.map((row) =>
        Array.from(row, (letter) => letter ?? " ")
          .join("")
          .trimEnd(),
      ),
    text() {
      return this.lines().join("\n");
    },
    get cursorIsVisible() {
      return state.cursor;
    },
    get isAlternate() {
      return state.alternate;
    },
    get isStyled() {
      return state.styled;
    },
    get overflows() {
      return state.overflows;
    },
  };
}
