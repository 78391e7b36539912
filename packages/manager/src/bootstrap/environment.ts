/** Environment variables of kruise-manager. */
import { daemonConfigNamespace } from '@kruise/api/kruise/well-known';

export type ManagerEnvironment = {
  /** The namespace of the Service, the certificates and the configuration. */
  readonly namespace: string;
  readonly secretName: string;
  readonly serviceName: string;
  readonly webhookPort: number;
  /** The address of the webhooks where they are not reached through the Service. */
  readonly webhookHost: string;
  readonly certificateDirectory: string;
  /** Keeps certificates in files rather than in a Secret. */
  readonly keepsFiles: boolean;
  /** Time before expiry at which certificates are renewed. */
  readonly renewBeforeMs: number;
  /** The namespace whose Secrets the kruise-daemons may read. */
  readonly daemonConfigNamespace: string;
  /** Default of the feature gate PodWebhook. */
  readonly podWebhook: boolean;
};

type Variables = { readonly [name: string]: string | undefined };

/** Reads the environment variables. Throws if the port is not a number. */
export function readEnvironment(variables: Variables): ManagerEnvironment {
  const value = (name: string, otherwise: string) => variables[name] || otherwise;
  const port = value('WEBHOOK_PORT', '9876');
  if (!/^\d+$/.test(port)) throw new RangeError(`WEBHOOK_PORT is no port: ${port}`);
  const webhookHost = value('WEBHOOK_HOST', '');
  const writer = value('WEBHOOK_CERT_WRITER', '');
  const kinds = value('CUSTOM_RESOURCE_ENABLE', '');
  return {
    namespace: value('POD_NAMESPACE', 'kruise-system'),
    secretName: value('SECRET_NAME', 'kruise-webhook-certs'),
    serviceName: value('SERVICE_NAME', 'kruise-webhook-service'),
    webhookPort: Number(port),
    webhookHost,
    certificateDirectory: value('WEBHOOK_CERT_DIR', '/tmp/kruise-webhook-certs'),
    keepsFiles: writer === 'fs' || (writer === '' && webhookHost !== ''),
    renewBeforeMs: renewBeforeMs(value('CERTS_RENEW_BEFORE', '')),
    daemonConfigNamespace: value('KRUISE_DAEMON_CONFIG_NS', daemonConfigNamespace),
    podWebhook: kinds === '' || kinds.split(',').includes('SidecarSet'),
  };
}

/** Returns the host name that the webhook certificate is issued for. */
export function webhookHostOf({ webhookHost, serviceName, namespace }: ManagerEnvironment): string {
  return webhookHost || `${serviceName}.${namespace}.svc`;
}

const dayMs = 86_400_000;
const days: { readonly [unit: string]: number } = { d: 1, m: 30, y: 365 };
const usualDays = 180;

function renewBeforeMs(text: string): number {
  const [, count = '', unit = ''] = /^(\d+)([dmy])$/.exec(text) ?? [];
  return (Number(count) * (days[unit] ?? 0) || usualDays) * dayMs;
}
