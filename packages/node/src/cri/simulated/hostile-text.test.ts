/** Text from a container does not block the process that simulates it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedNode } from './testing/simulated-node.ts';

const many = 200_000;

const commands: readonly (readonly [what: string, cmd: readonly string[]])[] = [
  ['awk with spaces before an unknown program', ['awk', `${' '.repeat(many)}x`]],
  ['awk with spaces after print', ['awk', `{print${' '.repeat(many)}`]],
  ['awk with spaces between fields', ['awk', `{print $1${' '.repeat(many)}$2}`, '/etc/passwd']],
  ['dirname of slashes', ['dirname', `${'/'.repeat(many)}x`]],
  ['basename of slashes', ['basename', `${'/'.repeat(many)}x`]],
  ['mktemp of a long template', ['mktemp', '-u', `${'X'.repeat(many)}y`]],
  ['command substitution of many lines', ['sh', '-c', `echo "$(echo '${'\n'.repeat(many)}x')"`]],
];
for (const [what, cmd] of commands) {
  test(`${what} takes linear time`, async () => {
    const node = simulatedNode();
    const { containerId } = await node.runContainer({ command: ['sleep', 'infinity'] });
    const startedAt = process.threadCpuUsage();
    await node.runtime.execSync({ containerId, cmd });
    const { user, system } = process.threadCpuUsage(startedAt);
    assert.ok((user + system) / 1000 < 3000, `${(user + system) / 1000} ms`);
  });
}
