import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { webhookCallers } from './manager.ts';

const folder = mkdtempSync(join(tmpdir(), 'kruise-manager-flags-'));
after(() => rmSync(folder, { recursive: true }));
const [authorities, token] = [join(folder, 'ca.crt'), join(folder, 'token')];

test('without flags any client may call the webhooks, as in OpenKruise', () => {
  assert.equal(webhookCallers({ webhookClientAllowedNames: '' }), undefined);
});

test('the flags name files that are read each time, as they are replaced', () => {
  writeFileSync(authorities, 'first');
  writeFileSync(token, 'secret\n');
  const callers = webhookCallers({
    webhookClientCaFile: authorities,
    webhookClientAllowedNames: 'a, b',
    webhookTokenFile: token,
  });
  assert.deepEqual(callers?.(), { authorities: 'first', names: ['a', 'b'], token: 'secret' });
  writeFileSync(authorities, 'second');
  assert.equal(callers?.().authorities, 'second');
});

test('a file without a token is refused, as it would close the webhooks to every client', () => {
  writeFileSync(token, '\n');
  assert.throws(() => webhookCallers({ webhookTokenFile: token })?.(), /contains no token/);
});
