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
import { writeWhole } from './data-directory.ts';
import type { Pki } from './pki.ts';

/** The kubeconfig of a cluster, under one name for its cluster, user and context. */
export function kubeconfigOf(name: string, server: string, { ca, admin }: Pki): KubeconfigFile {
  return kubeconfigFileOf({ name, server, authorities: ca.certificate, certificate: admin });
}

export function kubeconfigText(config: KubeconfigFile): string {
  return formatKubeconfig(config);
}

/** Where kubectl looks first, and writes. */
export function usualKubeconfigFile(): string {
  return kubeconfigFiles()[0]!;
}

/**
 * Writes a cluster into a kubeconfig beside what is there. An entry of the same name is replaced if it is this
 * cluster's own; if it is another's, this cluster takes another name. Returns the name.
 */
export async function mergeKubeconfig(file: string, wanted: string, server: string, pki: Pki): Promise<string> {
  mkdirSync(dirname(file), { recursive: true });
  return locked(file, () => {
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
    // A link to a kubeconfig elsewhere stays a link.
    writeWhole(existsSync(file) ? realpathSync(file) : file, kubeconfigText(merged));
    return name;
  });
}

/** The first of `kruise`, `kruise-2`, … that is free, or this cluster's own already. */
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
    throw new Error(`${file} is not a kubeconfig; it was left as it is`);
  }
  return value as Partial<KubeconfigFile>;
}

/** Whoever holds a lock this long has died. */
const staleMs = 5_000;

/** Does something to a kubeconfig while nobody else does: kubectl takes the same lock. */
async function locked<T>(file: string, work: () => T): Promise<T> {
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
