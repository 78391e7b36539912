import { manifestsFor } from '@kruise/manager/bootstrap/manifests';
import { formatYaml } from '@kruise/schema/yaml-write';

/** Prints the manifests of an installation, for `kubectl apply --server-side -f -`. */
export function manifests({ namespace }: { readonly namespace: string }): number {
  process.stdout.write(manifestsFor(namespace).map(formatYaml).join('---\n'));
  return 0;
}
