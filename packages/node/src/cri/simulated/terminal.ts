/** Terminal of a process: echoes input, edits lines, and turns control keys into signals. */
import { BrokenPipe, createPipe, type Input, type Output } from './byte-streams.ts';
import { type Process, ProcessKilled } from './process.ts';

export type Terminal = { readonly input: Input; readonly output: Output };

const interrupt = 0x03;
const endOfInput = 0x04;
const newline = 0x0a;
const carriageReturn = 0x0d;
const backspaces: ReadonlySet<number> = new Set([0x08, 0x7f]);

/** Opens a terminal for a process. Input is consumed whether the process reads it or not, until the process exits. */
export function openTerminal(process: Process, typed: Input, shown: Output): Terminal {
  const lines = createPipe(process);
  void takeIn(process, typed, { lines, echo: (text) => shown.write(Buffer.from(text)) }).catch((error: unknown) => {
    if (!(error instanceof ProcessKilled || error instanceof BrokenPipe)) throw error;
  });
  return {
    input: lines.input,
    output: {
      write: (bytes) =>
        shown.write(Buffer.from(Buffer.from(bytes).toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')),
    },
  };
}

type Sides = { readonly lines: ReturnType<typeof createPipe>; echo(text: string): void | Promise<void> };

async function takeIn(process: Process, typed: Input, { lines, echo }: Sides): Promise<void> {
  let line: number[] = [];
  const send = (...more: number[]) => {
    const bytes = Uint8Array.from([...line, ...more]);
    line = [];
    return lines.output.write(bytes);
  };
  for (let bytes = await typed.read(process); bytes; bytes = await typed.read(process)) {
    for (const byte of bytes) {
      if (byte === carriageReturn || byte === newline) {
        await echo('\r\n');
        await send(newline);
      } else if (byte === interrupt) {
        line = [];
        await echo('^C\r\n');
        process.signal('SIGINT');
      } else if (byte === endOfInput) {
        if (line.length === 0) {
          lines.closeOutput();
          return;
        }
        await send();
      } else if (backspaces.has(byte)) {
        if (line.pop() !== undefined) await echo('\b \b');
      } else {
        line.push(byte);
        await echo(String.fromCharCode(byte));
      }
    }
  }
  lines.closeOutput();
}
