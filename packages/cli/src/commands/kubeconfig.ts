import { existsSync, readFileSync } from 'node:fs';
import { dataDirectory } from '../data-directory.ts';

export async function printKubeconfig(options: { readonly data?: string }): Promise<number> {
  const { kubeconfig, path } = dataDirectory(options.data);
  if (!existsSync(kubeconfig)) {
    console.error(`There is no cluster in ${path} yet: kruise up makes one.`);
    return 1;
  }
  process.stdout.write(readFileSync(kubeconfig, 'utf8'));
  return 0;
}
