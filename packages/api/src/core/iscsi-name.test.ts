import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { endsWithQualifiedName } from './iscsi-name.ts';

test('a name is qualified if the pattern of Kubernetes matches', () => {
  const pattern = /iqn\.\d{4}-\d{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\s]+)$/;
  const part = fc.constantFrom('iqn.2001-04.', 'iqn.', '2001-04', 'com', '.', '-', ':', ',', ' ', '_', 'x', '\n');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
      const name = parts.join('');
      assert.equal(endsWithQualifiedName(name), pattern.test(name), JSON.stringify(name));
    }),
    { numRuns: 5000 },
  );
});
