import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Library } from '../library.ts';
import { authorizerLibrary } from './authorizer.ts';
import { formatsLibrary } from './formats.ts';
import { listsLibrary } from './lists.ts';
import { mutationLibrary } from './mutation.ts';
import { networkLibrary } from './network.ts';
import { optionalLibrary } from './optionals.ts';
import { quantityLibrary } from './quantity.ts';
import { regexLibrary } from './regex.ts';
import { semverLibrary } from './semver.ts';
import { setsLibrary } from './sets.ts';
import { standardLibrary } from './standard.ts';
import { stringsLibrary } from './strings.ts';
import { urlLibrary } from './url.ts';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const expressions = `${read('../../testdata/reference.jsonl')}${read('authorizer.test.ts')}`;

const libraries: Readonly<Record<string, Library>> = {
  authorizerLibrary,
  formatsLibrary,
  listsLibrary,
  mutationLibrary,
  networkLibrary,
  optionalLibrary,
  quantityLibrary,
  regexLibrary,
  semverLibrary,
  setsLibrary,
  standardLibrary,
  stringsLibrary,
  urlLibrary,
};

for (const [name, { functions }] of Object.entries(libraries)) {
  test(`every function of ${name} has a recorded case`, () => {
    const named = functions.map((declaration) => declaration.name).filter((each) => /^[a-z]/i.test(each));
    assert.deepEqual(
      named.filter((each) => !expressions.includes(`${each}(`)),
      [],
    );
  });
}
