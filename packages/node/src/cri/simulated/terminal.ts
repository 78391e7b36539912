/** A terminal between a process and whoever types: it echoes, edits the line, and turns keys into signals. */
import { createInput, type Input, type Output } from './byte-streams.ts';
import type { Process } from './process.ts';

export type Terminal = { readonly input: Input; readonly output: Output };

const interrupt = 0x03;
const endOfInput = 0x04;
const backspace = new Set([0x08, 0x7f]);
const carriageReturn = 0x0d;
const newline = 0x0a;

export function createTerminal(input: Input, output: Output, onInterrupt: () => void): Terminal {
  let line: number[] = [];
  let isEnded = false;
  const echo = (text: string) => output.write(Buffer.from(text));

  /** The next line that was typed, with its end. */
  async function nextLine(process: Process): Promise<Uint8Array | undefined> {
    const ready: number[] = [];
    while (!isEnded) {
      const bytes = await input.read(process);
      if (bytes === undefined) break;
      for (const byte of bytes) {
        if (byte === carriageReturn || byte === newline) {
          await echo('\r\n');
          ready.push(...line, newline);
          line = [];
        } else if (byte === interrupt) {
          await echo('^C\r\n');
          line = [];
          onInterrupt();
        } else if (byte === endOfInput) {
          if (line.length === 0) isEnded = true;
          ready.push(...line);
          line = [];
        } else if (backspace.has(byte)) {
          if (line.pop() !== undefined) await echo('\b \b');
        } else {
          line.push(byte);
          await echo(String.fromCharCode(byte));
        }
      }
      if (ready.length > 0) return Uint8Array.from(ready);
    }
    return undefined;
  }

  return {
    input: createInput(nextLine),
    output: {
      write: (bytes) =>
        output.write(Buffer.from(Buffer.from(bytes).toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')),
    },
  };
}
