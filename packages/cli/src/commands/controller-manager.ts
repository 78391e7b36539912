import { createPrivateKey } from 'node:crypto';
import { runControllerManager, unknownControllers } from '@kruise/controlplane/controllers/controller-manager';
import type { ControllerSettings } from '@kruise/controlplane/controllers/settings';
import { type CertificateAuthority, loadCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { systemClock, systemRandom } from '@kruise/values/system';
import { accountClients } from '../account-clients.ts';
import { isSet, readFileOf, runComponent } from '../component.ts';
import type { ControllerManagerFlags } from '../flags.ts';
import { tuningOf } from '../tuning.ts';

const name = 'kube-controller-manager';

/** Runs kube-controller-manager. Returns the exit code. */
export async function controllerManager(flags: ControllerManagerFlags): Promise<number> {
  const controllers = flags.controllers.split(',').map((each) => each.trim());
  const unknown = unknownControllers(controllers);
  if (unknown.length > 0) throw new Error(`unknown controller ${unknown.join(', ')}`);
  const given = settingsOf(flags);
  let isRunning = false;
  // A replica that waits for the lease is as ready as the leader.
  const isReady = () => {
    if (!isRunning && !isSet('--leader-elect', flags.leaderElect)) throw new Error('caches have not synced yet');
  };
  return runComponent(name, flags, { controllers: isReady }, async (context) => {
    const { client, authorities = '', log, metrics, leaderElection, signal } = context;
    await runControllerManager(
      {
        client,
        clientOf: accountClients(name, context, flags),
        clock: systemClock,
        random: systemRandom,
        log,
        metrics,
        settings: { rootAuthorities: authorities, ...given },
        controllers,
        onRunning: () => {
          isRunning = true;
          log.info({}, 'controllers started');
        },
        ...(leaderElection ? { leaderElection } : {}),
      },
      signal,
    );
  });
}

function settingsOf(flags: ControllerManagerFlags): Partial<ControllerSettings> {
  const { rootCaFile, serviceAccountPrivateKeyFile, clusterCidr, serviceClusterIpRange } = flags;
  const allocates = isSet('--allocate-node-cidrs', flags.allocateNodeCidrs);
  if (allocates && !clusterCidr) throw new Error('--allocate-node-cidrs requires --cluster-cidr');
  const signer = signerOf(flags);
  const threshold = thresholdOf(flags.terminatedPodGcThreshold);
  return {
    ...(rootCaFile ? { rootAuthorities: readFileOf('--root-ca-file', rootCaFile) } : {}),
    ...(signer ? { signer } : {}),
    ...(serviceAccountPrivateKeyFile
      ? { serviceAccountKey: readFileOf('--service-account-private-key-file', serviceAccountPrivateKeyFile) }
      : {}),
    ...(allocates && clusterCidr ? { clusterRanges: clusterCidr.split(',') } : {}),
    ...(serviceClusterIpRange ? { serviceRanges: serviceClusterIpRange.split(',') } : {}),
    ...(threshold === undefined ? {} : { terminatedPodThreshold: threshold }),
    ...tuningOf(flags),
  };
}

function signerOf({
  clusterSigningCertFile,
  clusterSigningKeyFile,
}: ControllerManagerFlags): CertificateAuthority | undefined {
  if (clusterSigningCertFile === undefined && clusterSigningKeyFile === undefined) return undefined;
  if (clusterSigningCertFile === undefined || clusterSigningKeyFile === undefined) {
    throw new Error('--cluster-signing-cert-file and --cluster-signing-key-file must be set together');
  }
  const certificate = readFileOf('--cluster-signing-cert-file', clusterSigningCertFile);
  const key = readFileOf('--cluster-signing-key-file', clusterSigningKeyFile);
  return loadCertificateAuthority({ certificate, key }, createPrivateKey(key));
}

function thresholdOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d+$/.test(text)) throw new Error(`--terminated-pod-gc-threshold must be a number, not ${text}`);
  return Math.max(0, Number(text));
}
