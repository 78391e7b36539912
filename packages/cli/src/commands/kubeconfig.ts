import { existsSync, readFileSync } from 'node:fs';
import { kubeconfigFileOf } from '@kruise/client/kubeconfig-file';
import { systemClock } from '@kruise/values/system';
import { dataDirectory } from '../data-directory.ts';
import { kubeconfigText } from '../kubeconfig.ts';
import { loadPki } from '../pki.ts';

export type KubeconfigOptions = {
  readonly data?: string;
  /** User other than the administrator; a client certificate is issued for the user. */
  readonly user?: string;
  readonly group?: readonly string[];
};

/** Prints the kubeconfig of a cluster, for its administrator or for another user. */
export async function printKubeconfig({ data, user, group = [] }: KubeconfigOptions): Promise<number> {
  const { kubeconfig, path, pki } = dataDirectory(data);
  if (!existsSync(kubeconfig)) {
    console.error(`No cluster found in ${path}. Run kruise up to create one.`);
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
