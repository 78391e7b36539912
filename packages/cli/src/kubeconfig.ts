import { closeSync, existsSync, mkdirSync, openSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeconfigFiles } from '@kruise/client/kubeconfig';
import {
  formatKubeconfig,
  type KubeconfigFile,
  kubeconfigData,
  kubeconfigFileOf,
} from '@kruise/client/kubeconfig-file';
import { parseYaml } from '@kruise/schema/yaml-text';
import { writeFileAtomically } from './data-directory.ts';
import type { Pki } from './pki.ts';

/** Returns the kubeconfig of a cluster, with one name for its cluster, user and context. */
export function kubeconfigOf(name: string, server: string, { ca, admin }: Pki): KubeconfigFile {
  return kubeconfigFileOf({ name, server, authorities: ca.certificate, certificate: admin });
}

export function kubeconfigText(config: KubeconfigFile): string {
  return formatKubeconfig(config);
}

/** Returns the kubeconfig file that kubectl reads first and writes to. */
export function defaultKubeconfigFile(): string {
  return kubeconfigFiles()[0]!;
}

/**
 * Merges a cluster into a kubeconfig file. An entry of the same name is replaced if it belongs to this cluster; if it
 * belongs to another cluster, this cluster gets another name. Returns the name.
 */
export async function mergeKubeconfig(file: string, wanted: string, server: string, pki: Pki): Promise<string> {
  mkdirSync(dirname(file), { recursive: true });
  return withLock(file, () => {
    const existing = readExisting(file);
    const name = nameFor(existing, wanted, pki);
    const ours = kubeconfigOf(name, server, pki);
    const beside = <T extends { readonly name: string }>(
      theirs: readonly T[] | null | undefined,
      mine: readonly T[],
    ) => [...(theirs ?? []).filter((each) => each.name !== name), ...mine];
    const merged: KubeconfigFile = {
      ...existing,
      ...ours,
      clusters: beside(existing.clusters, ours.clusters),
      contexts: beside(existing.contexts, ours.contexts),
      users: beside(existing.users, ours.users),
    };
    // A symbolic link stays a link.
    writeFileAtomically(existsSync(file) ? realpathSync(file) : file, kubeconfigText(merged));
    return name;
  });
}

/** Returns the first of `kruise`, `kruise-2`, … that is free or already belongs to this cluster. */
function nameFor(existing: Partial<KubeconfigFile>, wanted: string, { ca }: Pki): string {
  const own = kubeconfigData(ca.certificate);
  const isFree = (name: string) => {
    const cluster = existing.clusters?.find((each) => each.name === name);
    const others =
      existing.contexts?.some((each) => each.name === name) || existing.users?.some((each) => each.name === name);
    return cluster ? cluster.cluster?.['certificate-authority-data'] === own : !others;
  };
  let name = wanted;
  for (let suffix = 2; !isFree(name); suffix++) name = `${wanted}-${suffix}`;
  return name;
}

function readExisting(file: string): Partial<KubeconfigFile> {
  if (!existsSync(file)) return {};
  const text = readFileSync(file, 'utf8');
  if (text.trim() === '') return {};
  const value = parseYaml(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${file} is not a kubeconfig and was not changed: use --kubeconfig to write to another file`);
  }
  return value as Partial<KubeconfigFile>;
}

/** Age from which on a lock is stale, because its owner has died. */
const staleMs = 5_000;

/** Runs a function while holding the lock of a kubeconfig file; kubectl uses the same lock. */
async function withLock<T>(file: string, work: () => T): Promise<T> {
  const lock = `${file}.lock`;
  for (;;) {
    try {
      closeSync(openSync(lock, 'wx', 0o600));
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const heldSince = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
      if (heldSince !== undefined && Date.now() - heldSince > staleMs) rmSync(lock, { force: true });
      else await sleep(10);
    }
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}
