// Writes the message code for every .proto file, into `generated/` beside it. Needs protoc (Debian: protobuf-compiler).
//   node scripts/protobuf.ts
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The .proto files of the workspace, from its root. */
export function protoFiles(): string[] {
  return globSync('packages/*/src/**/*.proto', { cwd: root });
}

/** The folder the code of a .proto file is kept in, from the workspace's root. */
export function generatedFolder(protoFile: string): string {
  return join(dirname(protoFile), 'generated');
}

export function hasProtoc(): boolean {
  return spawnSync('protoc', ['--version']).status === 0;
}

/** Writes the code of a .proto file into a folder. */
export function generate(protoFile: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const { status, stderr } = spawnSync(
    'protoc',
    [
      `--plugin=${join(root, 'node_modules/.bin/protoc-gen-es')}`,
      `--es_out=${folder}`,
      // Node runs TypeScript by leaving the types out, which enums do not survive.
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
