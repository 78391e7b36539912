/** Positions of errors in an expression, and their display. */

/** An error of an expression. `offset` is an index into its text; -1 if it has no position. */
export type Issue = { readonly offset: number; readonly message: string };

const maxReported = 100;
const maxSnippetBytes = 16384;

/** Collects the errors of one expression and formats them like cel-go. */
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

  /** Returns all errors by position, each with its line and a marker below the position. */
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
  // Non-ASCII characters are often drawn two columns wide, so their dots are wide, too.
  const characters = [...snippet];
  const dots = characters.slice(0, column).map((character) => (isWide(character) ? '\uff0e' : '.'));
  const mark = isWide(characters[column]) ? '\uff3e' : '^';
  return `${head}\n | ${snippet}\n | ${dots.join('')}${mark}`;
}

const isWide = (character: string | undefined): boolean => character !== undefined && character > '\x7f';
