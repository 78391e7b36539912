import { existsSync, readFileSync } from 'node:fs';
import { kubeconfigFileOf } from '@kruise/client/kubeconfig-file';
import { systemClock } from '@kruise/values/system';
import { dataDirectory } from '../data-directory.ts';
import { kubeconfigText } from '../kubeconfig.ts';
import { loadPki } from '../pki.ts';

export type KubeconfigOptions = {
  readonly data?: string;
  /** Someone else than the administrator: a certificate is made for them. */
  readonly user?: string;
  readonly group?: readonly string[];
};

/** Prints the kubeconfig of a cluster, for its administrator or for someone else. */
export async function printKubeconfig({ data, user, group = [] }: KubeconfigOptions): Promise<number> {
  const { kubeconfig, path, pki } = dataDirectory(data);
  if (!existsSync(kubeconfig)) {
    console.error(`There is no cluster in ${path} yet: kruise up makes one.`);
    return 1;
  }
  const text = readFileSync(kubeconfig, 'utf8');
  if (user === undefined) {
    process.stdout.write(text);
    return 0;
  }
  const [, server = ''] = /server: (\S+)/.exec(text) ?? [];
  const nowMs = systemClock.now();
  const { ca } = loadPki(pki, [], nowMs);
  const certificate = ca.issue({
    subject: { commonName: user, organizations: group },
    usages: ['client auth'],
    nowMs,
  });
  const authorities = ca.certificate;
  process.stdout.write(kubeconfigText(kubeconfigFileOf({ name: user, server, authorities, certificate })));
  return 0;
}
