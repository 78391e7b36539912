import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeMutation, mutate, mutationsOf } from './mutations.ts';

const mutantsOf = (source: string) => mutationsOf(source).map((each) => mutate(source, each));

const cases = [
  { name: 'flips a comparison', source: 'const a = b === c;', mutants: ['const a = b !== c;'] },
  { name: 'moves a boundary', source: 'const a = b < c;', mutants: ['const a = b <= c;'] },
  { name: 'swaps a connective', source: 'const a = b && c;', mutants: ['const a = b || c;'] },
  { name: 'changes a small number', source: 'const a = 2;', mutants: ['const a = 3;'] },
  { name: 'leaves a duration alone', source: 'const a = 30_000;', mutants: [] },
  { name: 'negates a condition', source: 'if (a(b)) c();', mutants: ['if (!(a(b))) c();'] },
  { name: 'drops a negation', source: 'const a = !b;', mutants: ['const a = b;'] },
  { name: 'leaves types alone', source: 'const a: Array<1> = b;', mutants: [] },
  { name: 'leaves strings and comments alone', source: "const a = '1 < 2'; // 1 && 2", mutants: [] },
  { name: 'leaves out what is no program', source: 'const a = b ?? c ?? d;', mutants: [] },
];
for (const { name, source, mutants } of cases) {
  test(`a mutation ${name}`, () => assert.deepEqual(mutantsOf(source), mutants));
}

test('a mutation is described by its line and column', () => {
  const source = 'first();\nconst a = b > c;\n';
  const [mutation] = mutationsOf(source);
  assert.equal(describeMutation(source, mutation!), '2:13: > → >=   in: const a = b > c;');
});
