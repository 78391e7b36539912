/**
 * `agnhost port-forward-tester`: accepts one client, reads the expected input and sends chunks, as configured by its
 * environment.
 */
import type { Duplex } from 'node:stream';
import { quote } from '@kruise/values/go-syntax';
import { accept } from '../commands/network.ts';
import { type ProgramContext, writeText } from '../program.ts';

/** Time for the client to receive all data before the connection is closed. */
const lingerMs = 500;

export async function portForwardTester(context: ProgramContext): Promise<number> {
  const { environment, process, stdout } = context;
  const printLine = (text: string) => writeText(stdout, `${text}\n`);
  const number = (name: string) => Number(environment.get(name) ?? '');
  const connection = await accept(context, number('BIND_PORT'));
  connection.on('error', () => connection.destroy());
  await printLine('Accepted client connection');

  const expected = environment.get('EXPECTED_CLIENT_DATA') ?? '';
  if (expected !== '') {
    const received = await firstPart(context, connection, expected.length);
    if (received.length !== expected.length) {
      const reason = received.length === 0 ? 'EOF' : '<nil>';
      await printLine(
        `Expected to read ${expected.length} bytes from client, but got ${received.length} instead. err=${reason}`,
      );
      return 2;
    }
    if (received.toString() !== expected) {
      await printLine(`Expect to read ${quote(expected)}, but got ${quote(received.toString())}. err=<nil>`);
      return 3;
    }
    await printLine('Received expected client data');
  }

  const chunks = number('CHUNKS');
  const chunk = Buffer.alloc(number('CHUNK_SIZE'), 'x');
  for (let sent = 0; sent < chunks; sent++) {
    if (sent > 0) await process.sleep(number('CHUNK_INTERVAL'));
    connection.write(chunk);
  }
  await printLine('Shutting down connection');
  connection.end();
  await process.sleep(lingerMs);
  connection.destroy();
  await printLine('Done');
  return 0;
}

/** Reads the first bytes, at most the given length; empty if the client closes without sending. */
function firstPart({ process }: ProgramContext, connection: Duplex, length: number): Promise<Buffer> {
  return process.wait<Buffer>((resolve) => {
    connection.once('data', (part: Buffer) => resolve(part.subarray(0, length)));
    connection.once('end', () => resolve(Buffer.alloc(0)));
    connection.once('close', () => resolve(Buffer.alloc(0)));
    return () => connection.destroy();
  });
}
