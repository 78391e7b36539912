// Creates packages for publishing or local installation: JavaScript and declarations instead of the source, because
// Node.js does not strip types in node_modules. Run `npm run pack`; the packages are in .cache/packages.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const work = join(root, '.cache', 'pack');
const output = join(root, '.cache', 'packages');

/** Packages for writing and testing controllers. */
const libraries = ['values', 'cel', 'schema', 'api', 'machinery', 'client', 'apiserver'];

type Exports = Readonly<Record<string, string>>;

/** Creates the packages and returns their directory. */
export function pack(): string {
  rmSync(work, { recursive: true, force: true });
  rmSync(output, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  mkdirSync(output, { recursive: true });
  compile();
  for (const name of libraries) prepare(name);
  cpSync(join(root, 'examples', 'create-controller'), join(work, 'create-controller'), { recursive: true });
  for (const name of [...libraries, 'create-controller']) {
    cpSync(join(root, 'LICENSE'), join(work, name, 'LICENSE'));
    run('npm', ['pack', '--silent', '--pack-destination', output], join(work, name));
  }
  return output;
}

function compile(): void {
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: {
      noEmit: false,
      incremental: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: '../../packages',
      outDir: 'compiled',
      tsBuildInfoFile: null,
    },
    include: libraries.map((name) => `../../packages/${name}/src`),
    exclude: ['../../packages/*/src/**/*.test.ts', '../../packages/*/src/**/*.type-test.ts'],
  };
  writeFileSync(join(work, 'tsconfig.json'), JSON.stringify(config));
  run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', work], root);
}

/** Prepares the directory of a package for packing. */
function prepare(name: string): void {
  const folder = join(work, name);
  const source = join(root, 'packages', name);
  cpSync(join(work, 'compiled', name, 'src'), join(folder, 'dist'), { recursive: true });
  if (existsSync(join(source, 'README.md'))) cpSync(join(source, 'README.md'), join(folder, 'README.md'));
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { readonly exports: Exports };
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([entry, path]) => {
      const compiled = path.replace('./src/', './dist/').replace(/\.ts$/, '');
      return [entry, { types: `${compiled}.d.ts`, default: `${compiled}.js` }];
    }),
  );
  const packed = { ...manifest, exports, files: ['dist'], engines: { node: '>=24' } };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packed, undefined, 2)}\n`);
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, [...args], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

if (import.meta.main) console.log(pack());
