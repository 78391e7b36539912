import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { asField, type Field, type Fields, type Node, resolve } from '@kruise/schema';

const folder = new URL('./', import.meta.url);
const definitions = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /^[\w/-]+\.ts$/.test(file))
  .sort();

/** All objects of all definition files, by the place of their first occurrence. */
const objects = new Map<Fields, { readonly where: string; readonly name?: string; readonly doc?: string }>();
for (const file of definitions) {
  for (const [name, value] of Object.entries(await import(new URL(file, folder).href))) {
    if (isNode(value)) visit(value, `${file} ${name}`);
    else if (isKind(value)) visit(value.root, `${file} ${name}`);
  }
}

test('the structures of all kinds are found', () => {
  assert.ok(objects.size > 500, `${objects.size}`);
});

test('every named structure is documented', () => {
  const silent = [...objects.values()].filter(({ name, doc }) => name !== undefined && !isDocumentation(doc));
  assert.deepEqual(
    silent.map(({ where }) => where),
    [],
  );
});

test('every field is documented', () => {
  const silent = fields().filter(({ field }) => !isDocumentation(field.doc));
  assert.deepEqual(
    silent.map(({ where }) => where),
    [],
  );
});

test('no field repeats the documentation of the previous field', () => {
  const repeated = fields().filter(({ field, before }) => field.doc !== undefined && field.doc === before?.doc);
  assert.deepEqual(
    repeated.map(({ where }) => where),
    [],
  );
});

test('documentation consists of whole sentences on one line', () => {
  const odd = fields().filter(({ field }) => !/^[^\n]*[.…*]$/.test(field.doc ?? ''));
  assert.deepEqual(
    odd.map(({ where, field }) => `${where}: ${field.doc}`),
    [],
  );
});

function fields(): { where: string; field: Field; before: Field | undefined }[] {
  return [...objects].flatMap(([members, { where }]) => {
    const own = Object.entries(members)
      .map(([name, member]) => ({ where: `${where}.${name}`, field: asField(member) }))
      .filter(({ field }) => !field.inline);
    return own.map((entry, index) => ({ ...entry, before: own[index - 1]?.field }));
  });
}

function isDocumentation(doc: string | undefined): boolean {
  return doc !== undefined && doc.length >= 10;
}

function visit(node: Node, where: string): void {
  const found = resolve(node);
  if (found.type === 'list') visit(found.items, where);
  else if (found.type === 'map') visit(found.values, where);
  else if (found.type === 'either') visit(found.object, where);
  else if (found.type === 'object') visitMembers(found.fields, { where, ...found });
  else if (found.type === 'any' && found.partial) visitMembers(found.partial, { where });
}

function visitMembers(members: Fields, found: { where: string; name?: string; doc?: string }): void {
  if (objects.has(members)) return;
  objects.set(members, found);
  for (const [name, member] of Object.entries(members)) visit(asField(member).node, `${found.where}.${name}`);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function isKind(value: unknown): value is { readonly root: Node } {
  return typeof value === 'object' && value !== null && 'root' in value && isNode(value.root);
}
