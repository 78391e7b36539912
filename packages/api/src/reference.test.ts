/**
 * Compares every schema with the published definitions of Kubernetes v1.33, if a folder beside the project has them:
 * field names, required fields, and protobuf numbers. They are too large for the repository.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { asField, flatFields, type Node, type ObjectNode, resolve } from '@kruise/schema';
import { builtinKinds } from './builtin.ts';

const reference = new URL('../../../../shared/reference/', import.meta.url);
const isThere = existsSync(new URL('kubernetes-v1.33-api.json', reference));

/** Returns all named objects that the built-in kinds consist of. */
function definitions(): ReadonlyMap<string, ObjectNode> {
  const found = new Map<string, ObjectNode>();
  const visit = (unresolved: Node): void => {
    const node = resolve(unresolved);
    if (node.type === 'list') visit(node.items);
    if (node.type === 'map') visit(node.values);
    if (node.type === 'either') visit(node.object);
    if (node.type !== 'object' || (node.name !== undefined && found.has(node.name))) return;
    if (node.name !== undefined) found.set(node.name, node);
    for (const member of Object.values(node.fields)) visit(asField(member).node);
  };
  for (const kind of builtinKinds) {
    visit(kind.root);
    visit(kind.list);
  }
  return found;
}

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, reference), 'utf8')) as T;
}

if (!isThere) {
  test('the published definitions are not available, so nothing is compared', () => {
    assert.equal(isThere, false);
  });
} else {
  test('every definition has the published fields, with the same required ones', () => {
    type Definition = { properties?: Record<string, unknown>; required?: string[] };
    const published = read<{ definitions: Record<string, Definition> }>('kubernetes-v1.33-api.json').definitions;
    let compared = 0;
    for (const [name, node] of definitions()) {
      const definition = published[name];
      if (definition === undefined) continue;
      const fields = [...flatFields(node)];
      const names = fields.map(([field]) => field).sort();
      assert.deepEqual(names, Object.keys(definition.properties ?? {}).sort(), name);
      const required = fields.filter(([, field]) => field.required).map(([field]) => field);
      assert.deepEqual(required.sort(), (definition.required ?? []).toSorted(), `what ${name} requires`);
      compared++;
    }
    assert.ok(compared > 450, `only ${compared} definitions were compared`);
  });

  test('every field has its published protobuf number', () => {
    const published = read<Record<string, Record<string, [number, string]>>>('kubernetes-v1.33-protobuf.json');
    let compared = 0;
    for (const [name, node] of definitions()) {
      const message = published[name.replace(/^io\.k8s\./, 'k8s.io.')];
      if (message === undefined) continue;
      const ours = Object.values(node.fields).flatMap((member) => asField(member).number ?? []);
      const theirs = Object.values(message).map(([number]) => number);
      const byNumber = (a: number, b: number) => a - b;
      assert.deepEqual(ours.sort(byNumber), theirs.sort(byNumber), name);
      for (const [field, member] of Object.entries(node.fields)) {
        const { number, inline } = asField(member);
        if (number === undefined || inline || message[field] === undefined) continue;
        assert.equal(number, message[field][0], `${name}.${field}`);
      }
      compared++;
    }
    assert.ok(compared > 400, `only ${compared} messages were compared`);
  });
}
