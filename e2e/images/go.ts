/** Static programs from Go sources: ours, or packages of public modules. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './tool.ts';

/** The version of Kubernetes whose test images are built. */
export const kubernetesVersion = '1.33.4';

export type GoPlaces = {
  readonly cache: string;
  /** Folder of programs that were built elsewhere, by name. */
  readonly prebuilt?: string;
};

const environment = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };

/** Builds a program from a folder with Go files, and returns its path. */
export function buildOwnProgram(name: string, folder: string, { cache }: GoPlaces): string {
  const program = join(cache, 'go', name);
  const files = ['main.go'].map((file) => join(folder, file));
  runTool('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', program, ...files], { env: environment });
  return program;
}

/** Builds a package of Kubernetes' module or of a module that it requires, and returns the program's path. */
export function buildKubernetesProgram(name: string, path: string, places: GoPlaces): string {
  return (
    prebuiltProgram(name, places) ??
    buildOnce(name, places, (module) => {
      const { Dir } = JSON.parse(
        runTool('go', ['mod', 'download', '-json', `k8s.io/kubernetes@v${kubernetesVersion}`], { env: environment }),
      );
      const staging = `v0${kubernetesVersion.slice(1)}`;
      // Kubernetes replaces its own modules by folders, which its published module does not contain.
      const requirements = readFileSync(join(Dir, 'go.mod'), 'utf8')
        .replace(/^module .*/m, 'module images')
        .replaceAll(/(k8s\.io\/[a-z-]+) v0\.0\.0$/gm, `$1 ${staging}`)
        .replaceAll(/^.*=> \.\/staging.*\n/gm, '');
      writeFileSync(join(module, 'go.mod'), requirements);
      runTool('go', ['mod', 'edit', `-require=k8s.io/kubernetes@v${kubernetesVersion}`], {
        cwd: module,
        env: environment,
      });
      return path;
    })
  );
}

/** Builds the main package of a public module, and returns the program's path. */
export function buildModule(name: string, path: string, version: string, places: GoPlaces): string {
  return (
    prebuiltProgram(name, places) ??
    buildOnce(name, places, (module) => {
      writeFileSync(join(module, 'go.mod'), 'module images\n\ngo 1.24.0\n');
      runTool('go', ['get', `${path}@${version}`], { cwd: module, env: environment });
      return path;
    })
  );
}

function prebuiltProgram(name: string, { prebuilt }: GoPlaces): string | undefined {
  const path = prebuilt && join(prebuilt, name);
  return path && existsSync(path) ? path : undefined;
}

function buildOnce(name: string, { cache }: GoPlaces, prepare: (module: string) => string): string {
  const program = join(cache, 'go', name);
  if (existsSync(program)) return program;
  const module = join(cache, 'go', `${name}-module`);
  mkdirSync(module, { recursive: true });
  const path = prepare(module);
  console.log(`Building ${name} (some minutes, once)`);
  runTool('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', program, path], { cwd: module, env: environment });
  return program;
}
