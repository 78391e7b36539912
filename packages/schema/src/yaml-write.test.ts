import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from './yaml-text.ts';
import { formatYaml } from './yaml-write.ts';

test('keys are sorted, and lists stand under their key', () => {
  const text = formatYaml({ spec: { ports: [{ port: 80, name: 'a' }], empty: {} }, kind: 'Service' });
  assert.equal(text, 'kind: Service\nspec:\n  empty: {}\n  ports:\n  - name: a\n    port: 80\n');
});

test('texts that look like something else come back as they were', () => {
  const values = {
    values: ['true', 'on', 'null', '~', '1', '1.5', '0o7', '2020-01-01', '=', '', ' a', 'a: b', '#x', 'é\n'],
  };
  assert.deepEqual(parseYaml(formatYaml(values)), values);
});
