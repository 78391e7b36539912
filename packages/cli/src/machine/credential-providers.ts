/** Credential provider plugins of the kubelet and of kruise-daemon. */
import { existsSync } from 'node:fs';
import type { CredentialProviders } from '@kruise/node/kubelet/credentials/credential-providers';
import {
  loadCredentialProviders,
  type PluginContext,
  type ProviderFiles,
} from '@kruise/node/kubelet/credentials/node-credentials';
import type { KubeletFlags } from '../kubelet-flags.ts';

/** Returns the plugins of the kubelet's flags; undefined without the flags. Throws if they cannot be used. */
export async function requiredCredentialProviders(
  flags: Pick<KubeletFlags, 'imageCredentialProviderConfig' | 'imageCredentialProviderBinDir'>,
  context: PluginContext,
  signal: AbortSignal,
): Promise<CredentialProviders | undefined> {
  const { imageCredentialProviderConfig: configFile = '', imageCredentialProviderBinDir: binDirectory = '' } = flags;
  if (configFile === '' && binDirectory === '') return undefined;
  if (configFile === '' || binDirectory === '') {
    throw new Error('set both --image-credential-provider-config and --image-credential-provider-bin-dir, or neither');
  }
  return loadCredentialProviders({ configFile, binDirectory }, context, signal);
}

/**
 * Returns the plugins of kruise-daemon. Without a configuration there are none; as in OpenKruise, a fault is logged and
 * the daemon runs without plugins.
 */
export async function optionalCredentialProviders(
  files: ProviderFiles,
  context: PluginContext,
  signal: AbortSignal,
): Promise<CredentialProviders | undefined> {
  if (files.configFile === '' || !existsSync(files.configFile)) return undefined;
  try {
    return await loadCredentialProviders(files, context, signal);
  } catch (error) {
    context.log.error({ ...files, error }, 'failed to load credential provider plugins; pulling without them');
    return undefined;
  }
}
