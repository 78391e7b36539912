import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { dump, load } from 'js-yaml';
import { writeWhole } from './data-directory.ts';
import type { Pki } from './pki.ts';

type Named<K extends string, T> = { readonly name: string } & { readonly [P in K]: T };
type Kubeconfig = {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly clusters: readonly Named<
    'cluster',
    { readonly server: string; readonly 'certificate-authority-data': string }
  >[];
  readonly contexts: readonly Named<'context', { readonly cluster: string; readonly user: string }>[];
  readonly users: readonly Named<
    'user',
    { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  >[];
  readonly 'current-context': string;
};

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The kubeconfig of a cluster, under one name for its cluster, user and context. */
export function kubeconfigOf(name: string, server: string, { ca, admin }: Pki): Kubeconfig {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(ca.certificate) } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [
      { name, user: { 'client-certificate-data': base64(admin.certificate), 'client-key-data': base64(admin.key) } },
    ],
    'current-context': name,
  };
}

export function kubeconfigText(config: Kubeconfig): string {
  return dump(config, { lineWidth: -1 });
}

/** Where kubectl looks. */
export function usualKubeconfigFile(): string {
  const listed = process.env.KUBECONFIG?.split(delimiter).find((path) => path !== '');
  return listed ?? join(homedir(), '.kube', 'config');
}

/**
 * Writes a cluster into a kubeconfig beside what is there. An entry of the same name is replaced if it is this
 * cluster's own; if it is another's, this cluster takes another name. Returns the name.
 */
export function mergeKubeconfig(file: string, wanted: string, server: string, pki: Pki): string {
  mkdirSync(dirname(file), { recursive: true });
  const existing = readExisting(file);
  const own = base64(pki.ca.certificate);
  const isFree = (name: string) => {
    const cluster = existing.clusters?.find((each) => each.name === name);
    const others =
      existing.contexts?.some((each) => each.name === name) || existing.users?.some((each) => each.name === name);
    return cluster ? cluster.cluster?.['certificate-authority-data'] === own : !others;
  };
  let name = wanted;
  for (let suffix = 2; !isFree(name); suffix++) name = `${wanted}-${suffix}`;

  const ours = kubeconfigOf(name, server, pki);
  const beside = <T extends { readonly name: string }>(theirs: readonly T[] | null | undefined, mine: readonly T[]) => [
    ...(theirs ?? []).filter((each) => each.name !== name),
    ...mine,
  ];
  const merged = {
    ...existing,
    ...ours,
    clusters: beside(existing.clusters, ours.clusters),
    contexts: beside(existing.contexts, ours.contexts),
    users: beside(existing.users, ours.users),
  };
  writeWhole(file, kubeconfigText(merged));
  return name;
}

function readExisting(file: string): Partial<Kubeconfig> {
  if (!existsSync(file)) return {};
  const text = readFileSync(file, 'utf8');
  if (text.trim() === '') return {};
  const value = load(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${file} is not a kubeconfig; it was left as it is`);
  }
  return value as Partial<Kubeconfig>;
}
