/** Builds images by their recipes into the store of this checkout. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkBusybox, unpackPackages } from './debian.ts';
import { buildKubernetesProgram, buildModule, buildOwnProgram, type GoPlaces, kubernetesVersion } from './go.ts';
import { type Program, type Recipe, recipes } from './recipes.ts';
import { type ImageStore, openImageStore } from './store.ts';
import { runTool } from './tool.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const defaultCache = fileURLToPath(new URL('../../.cache/images', import.meta.url));

/** Builds the named images, or all, where they are missing or their recipe has changed. Returns the store. */
export function buildImages(names?: readonly string[], cache = defaultCache): ImageStore {
  const store = openImageStore(join(cache, 'store'));
  const unknown = names?.find((name) => !recipes.some((recipe) => recipe.names.includes(name)));
  if (unknown !== undefined) throw new Error(`there is no recipe for the image ${unknown}`);
  for (const recipe of recipes) {
    if (names && !recipe.names.some((name) => names.includes(name))) continue;
    const stamp = join(cache, 'recipes', hashOf(recipe));
    if (existsSync(stamp) && recipe.names.every((name) => store.digestOf(name))) continue;
    build(recipe, store, cache);
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, recipe.names.join('\n'));
  }
  return store;
}

/** An image is built again if its recipe or one of our sources changes. */
function hashOf(recipe: Recipe): string {
  const sources = readdirSync(here).filter((name) => name.endsWith('.ts') && name !== 'recipes.ts');
  const own = (recipe.programs ?? []).flatMap((each) => ('own' in each ? [join(each.own, 'main.go')] : []));
  const hash = createHash('sha256').update(JSON.stringify(recipe));
  for (const file of ['debian.ts', 'images.ts', ...own]) hash.update(readFileSync(join(here, file)));
  return sources.length === 0 ? '' : hash.digest('hex').slice(0, 32);
}

function build(recipe: Recipe, store: ImageStore, cache: string): void {
  console.log(`Building the image ${recipe.names[0]}`);
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, 'draft-'));
  try {
    const root = join(draft, 'root');
    mkdirSync(root);
    if (recipe.packages) fillFromPackages(recipe.packages, cache, root);
    for (const path of ['dev', 'etc', 'proc', 'sys', ...(recipe.directories ?? [])])
      mkdirSync(join(root, path), { recursive: true });
    mkdirSync(join(root, 'tmp'), { recursive: true });
    chmodSync(join(root, 'tmp'), 0o1777);
    for (const [path, content] of Object.entries(recipe.files ?? {}))
      place(root, path, (to) => writeFileSync(to, content));
    for (const program of recipe.programs ?? []) {
      const built = programOf(program, { cache, ...prebuiltPlace() });
      place(root, program.path, (to) => copyFileSync(built, to));
      chmodSync(join(root, program.path), 'mode' in program ? (program.mode ?? 0o755) : 0o755);
    }
    for (const [path, source] of Object.entries(recipe.kubernetesFiles ?? {})) {
      place(root, path, (to) => copyFileSync(join(kubernetesFolder(), source), to));
      chmodSync(join(root, path), 0o644);
    }
    for (const [path, target] of Object.entries(recipe.links ?? {})) {
      place(root, path, (to) => {
        rmSync(to, { force: true });
        symlinkSync(target, to);
      });
    }
    const layer = join(draft, 'layer.tar');
    const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
    runTool('tar', [...reproducible, '-C', root, '-cf', layer, '.']);
    store.add({ names: recipe.names, layers: [layer], config: recipe.config });
  } finally {
    rmSync(draft, { recursive: true });
  }
}

function fillFromPackages(packages: readonly string[], cache: string, root: string): void {
  unpackPackages(packages, cache, root);
  linkBusybox(root);
}

function place(root: string, path: string, write: (to: string) => void): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  write(join(root, path));
}

function prebuiltPlace(): Pick<GoPlaces, 'prebuilt'> {
  const { KRUISE_E2E_PROGRAMS: prebuilt } = process.env;
  return prebuilt === undefined ? {} : { prebuilt };
}

function programOf(program: Program, places: GoPlaces): string {
  if ('own' in program) return buildOwnProgram(program.own, join(here, program.own), places);
  if ('module' in program) return buildModule(basename(program.module), program.module, program.version, places);
  return buildKubernetesProgram(basename(program.kubernetes), program.kubernetes, places);
}

function kubernetesFolder(): string {
  return JSON.parse(runTool('go', ['mod', 'download', '-json', `k8s.io/kubernetes@v${kubernetesVersion}`])).Dir;
}
