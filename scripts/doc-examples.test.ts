/** Examples in the doc comments of the libraries: every exported module has one, and all of them compile. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** Packages that third parties depend on. */
const libraries = ['values', 'cel', 'schema', 'machinery', 'client'];
/** Examples are compiled in a folder of the repository, so that they import packages by name. */
const folder = join(root, '.cache/doc-examples');

type Example = { readonly file: string; readonly line: number; readonly text: string };

/** Returns the examples in the doc comments of a source file. */
function examplesOf(file: string, source: string): readonly Example[] {
  return [...source.matchAll(/^ *\* ```ts\n([\s\S]*?)^ *\* ```$/gm)].map(({ 1: text, index }) => ({
    file,
    line: source.slice(0, index).split('\n').length + 1,
    text: text!.replace(/^ *\* ?/gm, ''),
  }));
}

/** Returns the names that a module exports, and whether each is only a type. */
function exportsOf(source: string): ReadonlyMap<string, 'type' | 'value'> {
  const declared = source.matchAll(
    /^export (?:declare )?(?:async )?(function\*?|const|class|type|interface) (\w+)|^export (type )?\{ ([^}]*) \}/gm,
  );
  return new Map(
    [...declared].flatMap(([, keyword, name, isType, list]) => {
      if (name) return [[name, /type|interface/.test(keyword!) ? 'type' : 'value'] as const];
      const names = list!.split(',').map((each) => each.trim().split(' as ').at(-1)!);
      return names.map((each) => [each.replace('type ', ''), isType ? 'type' : 'value'] as const);
    }),
  );
}

const sources = libraries.flatMap((library) =>
  globSync(`packages/${library}/src/**/*.ts`, { cwd: root }).filter((file) => !file.endsWith('.test.ts')),
);
const exported = new Map(sources.map((file) => [file, exportsOf(read(file))]));
const scope = 'scripts/docs/example-scope.ts';
const scopeNames = exportsOf(read(scope));

/** Returns the example as a module: the names that it does not declare come from its own module, the scope, or another library. */
function moduleOf({ file, text }: Example): string {
  const code = text.replace(/'[^'\n]*'/g, "''").replace(/\/\/.*$/gm, '');
  const used = new Set([...code.matchAll(/(?<![\w$]|(?<!\.\.)\.)[A-Za-z_]\w*/g)].map(([name]) => name));
  const declared = new Set([...code.matchAll(/\b(?:const|let|type|function) (\w+)/g)].map(([, name]) => name!));
  for (const [, list] of code.matchAll(/\b(?:const|let) \{ ([^}]*) \}/g)) {
    for (const each of list!.split(',')) declared.add(each.trim().split(/[ :]+/).at(-1)!);
  }
  const imports = [...used].flatMap((name) => {
    if (declared.has(name)) return [];
    const own = exported.get(file)!.has(name) ? file : scopeNames.has(name) ? scope : undefined;
    const from = own ?? sources.find((each) => exported.get(each)!.has(name));
    if (name === 's') return [`import * as s from '@kruise/schema/language';`];
    return from ? [`import { ${name} } from '${relative(folder, join(root, from))}';`] : [];
  });
  return `${imports.join('\n')}\n${text}\nexport {};\n`;
}

const examples = sources.flatMap((file) => examplesOf(file, read(file)));

/** An example that is wrong: `name` is a string. */
const [wrong] = examplesOf(
  'packages/client/src/cache/object-key.ts',
  '/**\n * ```ts\n * keyOf({ metadata: { name: 1 } });\n * ```\n */\n',
);

test('the examples in doc comments compile, and a wrong one is found', () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const origins = new Map<string, Example>();
  for (const [index, example] of [...examples, wrong!].entries()) {
    origins.set(`${index}.ts`, example);
    writeFileSync(join(folder, `${index}.ts`), moduleOf(example));
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: { incremental: false, tsBuildInfoFile: null, verbatimModuleSyntax: false },
      include: ['*.ts'],
    }),
  );
  const errors = compile().map((line) =>
    line.replace(/^.*?(\d+\.ts)\(\d+/, (_, name: string) => {
      const { file, line: at } = origins.get(name)!;
      return `${file}:${at} (${name}`;
    }),
  );
  assert.deepEqual(errors, [
    `packages/client/src/cache/object-key.ts:3 (${examples.length}.ts,21): error TS2322: Type 'number' is not assignable to type 'string'.`,
  ]);
});

/** Compiles the folder, and returns the errors. */
function compile(): readonly string[] {
  const compiler = join(dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc');
  try {
    execFileSync(process.execPath, [compiler, '--noEmit', '-p', folder], { cwd: root, encoding: 'utf8' });
    return [];
  } catch (error) {
    return (error as { readonly stdout: string }).stdout.split('\n').filter((line) => /^\S.*error TS/.test(line));
  }
}

describe('exported modules', () => {
  for (const library of ['schema', 'machinery', 'client']) {
    test(`every module that ${library} exports has an example`, () => {
      const { exports } = JSON.parse(read(`packages/${library}/package.json`)) as { exports: Record<string, string> };
      const modules = [...new Set(Object.values(exports))].map((path) => join('packages', library, path));
      assert.deepEqual(
        modules.filter((file) => !file.includes('/testing/') && !examples.some((each) => each.file === file)),
        [],
      );
    });
  }
});
