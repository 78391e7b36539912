import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Packages in dependency order: a package imports only packages before it. */
const packageOrder = [
  'values',
  'cel',
  'schema',
  'api',
  'machinery',
  'client',
  'workload-kit',
  'network',
  'apiserver',
  'controlplane',
  'node',
  'manager',
  'daemon',
  'cluster',
  'sim',
  'cli',
  'dashboard',
];

/** Entry points, which may use the real clock and random numbers. */
const entryPoints = [
  'packages/values/src/system.ts',
  // Even a simulation must yield to the real event loop.
  'packages/values/src/virtual-clock.ts',
  // Writes to sockets wait for the event loop, not for a time.
  /^packages\/apiserver\/src\/http\/(?:encoding|in-steps)\.ts$/,
  // Requests wait until sockets have been polled.
  'packages/values/src/scheduling/batch-scheduler.ts',
  /^packages\/cli\//,
  /^scripts\//,
  /^bench\//,
  /^e2e\//,
  /^examples\//,
  /\.test\.ts$/,
  /\/suite\.ts$/,
  /\/testing\//,
  /\/sqlite-crash-/,
];

const root = fileURLToPath(new URL('..', import.meta.url));
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const sources = tracked.filter((file) => /\.(ts|mjs)$/.test(file) && !file.includes('/generated/'));
const texts = new Map(sources.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

/** Returns whether a file is a test or imported only by tests. */
function isForTests(file: string): boolean {
  return /[.-]test\.ts$|\/suite\.ts$|\/testing\//.test(file);
}

function packageOf(file: string): string | undefined {
  return /^packages\/([^/]+)\/src\//.exec(file)?.[1];
}

function importsOf(file: string): readonly string[] {
  return [...texts.get(file)!.matchAll(/^(?:import|export)\s[\w\s{},*]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    (match) => (match[1] ?? match[2])!,
  );
}

/** Returns the imports that remain after type stripping. */
function runtimeImportsOf(file: string): readonly string[] {
  return [...texts.get(file)!.matchAll(/^(?:import|export)\s+(?!type\b)([\w\s{},*]*?)from\s+'([^']+)'/gm)].flatMap(
    (match) => {
      const named = /\{([^}]*)\}/.exec(match[1]!)?.[1];
      const onlyTypes = named?.split(',').every((part) => part.trim() === '' || /^\s*type\s/.test(part)) ?? false;
      return onlyTypes && !/\w\s*,\s*\{/.test(match[1]!) ? [] : [match[2]!];
    },
  );
}

test('packages import only packages before them', () => {
  const wrong = sources.flatMap((file) => {
    const own = packageOf(file);
    if (own === undefined) return [];
    assert.ok(packageOrder.includes(own), `the package ${own} is not in the order`);
    return importsOf(file).flatMap((specifier) => {
      const other = /^@kruise\/([^/]+)/.exec(specifier)?.[1];
      if (other === undefined) return [];
      return packageOrder.indexOf(other) < packageOrder.indexOf(own) ? [] : [`${file} imports ${specifier}`];
    });
  });
  assert.deepEqual(wrong, []);
});

test('packages import each other by name, and their own files by path', () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file).flatMap((specifier) => {
      const own = packageOf(file);
      if (own === undefined) return [];
      if (specifier.startsWith(`@kruise/${own}/`)) return [`${file} imports ${specifier} by name`];
      if (!specifier.startsWith('.')) return [];
      const target = normalize(join(dirname(file), specifier));
      return packageOf(target) === own || !target.startsWith('packages/') ? [] : [`${file} reaches into ${target}`];
    }),
  );
  assert.deepEqual(wrong, []);
});

test('a package declares its imports as dependencies', () => {
  const wrong = sources.flatMap((file) => {
    const own = packageOf(file);
    if (own === undefined || isForTests(file)) return [];
    const manifest = JSON.parse(readFileSync(join(root, 'packages', own, 'package.json'), 'utf8'));
    return importsOf(file).flatMap((specifier) => {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) return [];
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
      return manifest.dependencies?.[name] === undefined ? [`${file} imports ${name}`] : [];
    });
  });
  assert.deepEqual([...new Set(wrong)], []);
});

test('there are no circular imports', () => {
  const state = new Map<string, 'visiting' | 'done'>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'visiting') {
      circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      return;
    }
    state.set(file, 'visiting');
    for (const specifier of runtimeImportsOf(file)) {
      if (!specifier.startsWith('.')) continue;
      const target = normalize(join(dirname(file), specifier));
      if (texts.has(target)) visit(target, [...path, file]);
    }
    state.set(file, 'done');
  };
  for (const file of sources) visit(file, []);
  assert.deepEqual(circles, []);
});

test('time, timers and random numbers are injected below the entry points', () => {
  const banned =
    /\b(Date\.now\(|new Date\(\)|performance\.now\(|Math\.random\(|setTimeout\(|setInterval\(|setImmediate\(|(?<![\w.]|async )fetch\()/;
  const wrong = sources.flatMap((file) => {
    if (packageOf(file) === undefined) return [];
    if (entryPoints.some((entry) => (typeof entry === 'string' ? entry === file : entry.test(file)))) return [];
    return texts
      .get(file)!
      .split('\n')
      .flatMap((line, index) => {
        const code = line.replace(/\/\/.*$|^\s*\*.*$/, '');
        return banned.test(code) ? [`${file}:${index + 1}: ${line.trim()}`] : [];
      });
  });
  assert.deepEqual(wrong, []);
});

test('no file names a particular machine or registry', () => {
  const particular = /(^|[\s"'`(=])\/(work|farm|root|home)\/|registry\.npmjs\.org|proxy\.golang\.org|deb\.debian\.org/;
  const wrong = tracked.flatMap((file) => {
    if (/\.(png|svg|gz|lock)$|package-lock\.json$|tidiness\.test\.ts$/.test(file)) return [];
    return readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (particular.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : []));
  });
  assert.deepEqual(wrong, []);
});

test('the lock file names no registry', () => {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  assert.doesNotMatch(lock, /"resolved": "https?:/);
});

/** Packages that third parties depend on. */
const libraries = ['values', 'cel', 'schema', 'machinery', 'client'];

test('every export of a library has a doc comment', () => {
  const declaration = /^export (?:async )?(?:function\*?|const|type|interface|class) (\w+)/;
  const wrong = sources.flatMap((file) => {
    if (!libraries.includes(packageOf(file) ?? '') || isForTests(file)) return [];
    const lines = texts.get(file)!.split('\n');
    const described = new Set<string>();
    return lines.flatMap((line, index) => {
      const name = declaration.exec(line)?.[1];
      // A function may have several overloads.
      if (name === undefined || described.has(name)) return [];
      described.add(name);
      return lines[index - 1]?.trimEnd().endsWith('*/') ? [] : [`${file}:${index + 1}: ${name}`];
    });
  });
  assert.deepEqual(wrong, []);
});

test('the sources contain no TODO comments', () => {
  const wrong = sources.flatMap((file) => {
    if (file.endsWith('tidiness.test.ts')) return [];
    return texts
      .get(file)!
      .split('\n')
      .flatMap((line, index) => (/\b(TODO|FIXME|XXX|HACK)\b(?!.*#\d)/.test(line) ? [`${file}:${index + 1}`] : []));
  });
  assert.deepEqual(wrong, []);
});

test('no test is skipped or run exclusively', () => {
  const wrong = sources.flatMap((file) => {
    if (!file.endsWith('.test.ts') || file.endsWith('tidiness.test.ts')) return [];
    return texts
      .get(file)!
      .split('\n')
      .flatMap((line, index) =>
        /\b(test|it|describe)\.(skip|only|todo)\b|\bskip: *true\b/.test(line) ? [`${file}:${index + 1}`] : [],
      );
  });
  assert.deepEqual(wrong, []);
});

const manifests = packageOrder
  .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
  .map((name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')));

test('a package lists each module that it exports', () => {
  const wrong = manifests.flatMap(({ name, exports }) =>
    Object.entries(exports as Record<string, string>).flatMap(([entry, path]) => {
      const file = join('packages', name.replace('@kruise/', ''), path);
      return entry.includes('*') || !existsSync(join(root, file)) ? [`${name} exports ${entry} as ${path}`] : [];
    }),
  );
  assert.deepEqual(wrong, []);
});

/** Packages that are not installed with a package, directly or through another one. */
const separate: Readonly<Record<string, readonly string[]>> = {
  client: ['apiserver', 'controlplane', 'node', 'manager'],
  'workload-kit': ['apiserver', 'controlplane', 'node', 'manager'],
  manager: ['apiserver', 'controlplane', 'node', 'cluster'],
};

test('a package is installed without the packages that it does not need', () => {
  const dependenciesOf = new Map<string, readonly string[]>(
    manifests.map(({ name, dependencies = {} }) => [name, Object.keys(dependencies)]),
  );
  const installed = (name: string): readonly string[] =>
    (dependenciesOf.get(name) ?? []).flatMap((each) => [each, ...installed(each)]);
  const wrong = Object.entries(separate).flatMap(([name, others]) => {
    const all = new Set(installed(`@kruise/${name}`));
    return others.filter((other) => all.has(`@kruise/${other}`)).map((other) => `${name} installs ${other}`);
  });
  assert.deepEqual(wrong, []);
});
