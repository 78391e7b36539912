/** Where in an expression something was found wrong, and how that is shown to people. */

/** One fault of an expression. `offset` is an index into its text; -1 when no place is to blame. */
export type Issue = { readonly offset: number; readonly message: string };

const maxReported = 100;
const maxSnippetBytes = 16384;

/** Collects the faults of one expression and renders them the way cel-go does. */
export class Issues {
  readonly list: Issue[] = [];
  #truncated = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  report(offset: number, message: string): void {
    if (this.list.length < maxReported) this.list.push({ offset, message });
    else this.#truncated++;
  }

  /** Every fault in order of place, each with the line it is in and a mark below the spot. */
  toString(): string {
    const shown = this.list.toSorted((a, b) => a.offset - b.offset).map((issue) => formatIssue(this.#text, issue));
    if (this.#truncated > 0) shown.push(`${this.#truncated} more errors were truncated`);
    return shown.join('\n');
  }
}

function formatIssue(text: string, { offset, message }: Issue): string {
  if (offset < 0) return `ERROR: <input>:-1:0: ${message}`;
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const lineStart = before.lastIndexOf('\n') + 1;
  const column = [...before.slice(lineStart)].length;
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;

  const newline = text.indexOf('\n', lineStart);
  const snippet = text.slice(lineStart, newline < 0 ? text.length : newline).replaceAll('\t', ' ');
  if (text === '' || Buffer.byteLength(snippet) > maxSnippetBytes) return head;
  // Characters outside ASCII are often drawn two columns wide, so their dots are wide too.
  const characters = [...snippet];
  const dots = characters.slice(0, column).map((character) => (isWide(character) ? '\uff0e' : '.'));
  const mark = isWide(characters[column]) ? '\uff3e' : '^';
  return `${head}\n | ${snippet}\n | ${dots.join('')}${mark}`;
}

const isWide = (character: string | undefined): boolean => character !== undefined && character > '\x7f';
