import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { simulatedNode } from './testing/simulated-node.ts';

/** Types into a shell in a terminal; returns its output. */
async function typeInto(...typed: readonly string[]): Promise<{ readonly shown: string; readonly exitCode: number }> {
  const node = simulatedNode();
  const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'] });
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  let shown = '';
  stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const session = await node.runtime.exec({ containerId, cmd: ['sh'], tty: true, stdin: true, stdout: true });
  const { signal } = new AbortController();
  const running = session.connect({ stdin, stdout, stderr: undefined, onResize: () => {}, signal });
  for (const text of typed) {
    stdin.write(text);
    await node.advance(100);
  }
  return { ...(await running), shown };
}

describe('a terminal', () => {
  test('prompts, echoes, and prints output', async () => {
    const { shown, exitCode } = await typeInto('echo hi\r', 'exit 3\r');
    assert.deepEqual([shown, exitCode], ['/ # echo hi\r\nhi\r\n/ # exit 3\r\n', 3]);
  });

  test('supports backspace', async () => {
    const { shown } = await typeInto('echo ax\x7fb\r', 'exit\r');
    assert.match(shown, /echo ax\x08 \x08b\r\nab\r\n/);
  });

  test('prompts until a command is complete', async () => {
    const { shown } = await typeInto('if true\r', 'then echo yes; fi\r', 'exit\r');
    assert.match(shown, /> then echo yes; fi\r\nyes\r\n/);
  });

  test('exits at the end of input', async () => {
    assert.equal((await typeInto('false\r', '\x04')).exitCode, 1);
  });

  test('an interrupt ends the command, but not the shell', async () => {
    const { shown } = await typeInto('sleep 1000\r', '\x03', 'echo $?\r', 'exit\r');
    assert.match(shown, /sleep 1000\r\n\^C\r\n\/ # echo \$\?\r\n130\r\n/);
  });

  test('an interrupt discards the input line', async () => {
    const { shown } = await typeInto('echo never', '\x03', 'echo now\r', 'exit\r');
    assert.match(shown, /echo never\^C\r\n\/ # echo now\r\nnow\r\n/);
  });
});

test('a container outlives its attached client', async () => {
  const node = simulatedNode();
  const { containerId } = await node.runContainer({ command: ['sh', '-c', 'while true; do sleep 1; echo tick; done'] });
  const stdout = new PassThrough();
  const session = await node.runtime.attach({ containerId, stdout: true });
  const client = new AbortController();
  const { signal } = client;
  const attached = session.connect({ stdin: undefined, stdout, stderr: undefined, onResize: () => {}, signal });
  await node.advance(1000);
  assert.equal(String(stdout.read()), 'tick\n');
  stdout.destroy();
  await node.advance(2000);
  client.abort();
  await attached;
  assert.equal((await node.status(containerId)).state, 'CONTAINER_RUNNING');
  assert.equal(await node.log(containerId), 'tick\ntick\ntick\n');
});

test('a container with a terminal accepts input', async () => {
  const node = simulatedNode();
  const { containerId } = await node.runContainer({ config: { tty: true, stdin: true } });
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  let shown = '';
  stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const session = await node.runtime.attach({ containerId, tty: true, stdin: true, stdout: true });
  const { signal } = new AbortController();
  const attached = session.connect({ stdin, stdout, stderr: undefined, onResize: () => {}, signal });
  stdin.write('echo $((6 * 7)); exit 5\r');
  await node.advance(100);
  await attached;
  assert.match(shown, /42\r\n/);
  assert.equal((await node.status(containerId)).exitCode, 5);
});
