// Writes the message code for every .proto file, into `generated/` beside it. Needs protoc (Debian: protobuf-compiler).
//   node scripts/protobuf.ts
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Returns the .proto files of the workspace, relative to its root. */
export function protoFiles(): string[] {
  return globSync('packages/*/src/**/*.proto', { cwd: root });
}

/** Returns the folder of the generated code of a .proto file, relative to the root of the workspace. */
export function generatedFolder(protoFile: string): string {
  return join(dirname(protoFile), 'generated');
}

export function hasProtoc(): boolean {
  return spawnSync('protoc', ['--version']).status === 0;
}

/** Generates the code of a .proto file into a folder. */
export function generate(protoFile: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const { status, stderr } = spawnSync(
    'protoc',
    [
      `--plugin=${join(root, 'node_modules/.bin/protoc-gen-es')}`,
      `--es_out=${folder}`,
      // Node.js strips types, which does not support enums.
      '--es_opt=target=ts,import_extension=ts,erasable_syntax=true',
      `--proto_path=${dirname(join(root, protoFile))}`,
      basename(protoFile),
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${protoFile}: ${stderr}`);
}

if (import.meta.main) {
  for (const file of protoFiles()) generate(file, join(root, generatedFolder(file)));
}
