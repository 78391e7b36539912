import {
  runCloudControllerManager,
  unknownCloudControllers,
} from '@kruise/controlplane/cloud/cloud-controller-manager';
import { localProvider } from '@kruise/controlplane/cloud/local/provider';
import type { CloudProvider } from '@kruise/controlplane/cloud/provider';
import { systemClock, systemRandom } from '@kruise/values/system';
import { accountClients } from '../account-clients.ts';
import { isSet, runComponent } from '../component.ts';
import type { CloudControllerManagerFlags } from '../flags.ts';

const name = 'cloud-controller-manager';

/** Runs cloud-controller-manager. Returns the exit code. */
export async function cloudControllerManager(flags: CloudControllerManagerFlags): Promise<number> {
  const controllers = flags.controllers.split(',').map((each) => each.trim());
  const unknown = unknownCloudControllers(controllers);
  if (unknown.length > 0) throw new Error(`unknown controller ${unknown.join(', ')}`);
  const provider = providerOf(flags);
  let isRunning = false;
  // A replica that waits for the lease is as ready as the leader.
  const isReady = () => {
    if (!isRunning && !isSet('--leader-elect', flags.leaderElect)) throw new Error('caches have not synced yet');
  };
  return runComponent(name, flags, { controllers: isReady }, async (context) => {
    const { client, log, metrics, leaderElection, signal } = context;
    await runCloudControllerManager(
      {
        provider,
        client,
        clientOf: accountClients(name, context, flags),
        clock: systemClock,
        random: systemRandom,
        log,
        metrics,
        controllers,
        ...(flags.clusterCidr ? { clusterRanges: flags.clusterCidr.split(',') } : {}),
        onRunning: () => {
          isRunning = true;
          log.info({ provider: provider.name }, 'controllers started');
        },
        ...(leaderElection ? { leaderElection } : {}),
      },
      signal,
    );
  });
}

function providerOf({ cloudProvider, loadBalancerRange }: CloudControllerManagerFlags): CloudProvider {
  if (cloudProvider !== 'local') throw new Error(`unknown cloud provider ${cloudProvider}: use local`);
  return localProvider({ addressRanges: loadBalancerRange.split(',') });
}
