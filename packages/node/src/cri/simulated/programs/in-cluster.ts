/** In-cluster configuration: address and CA of the API server, and the service account token. */
import { hostAndPort } from '@kruise/apiserver/connect/backend';
import { type FetchOptions, FetchTimeout } from '../commands/fetch-url.ts';
import { FileError } from '../file-tree.ts';
import { ExchangeError } from '../http-exchange.ts';
import { ConnectError } from '../network.ts';
import { type ProgramContext, writeText } from '../program.ts';

/** Fatal error of a program. */
export class Fatal extends Error {
  override readonly name = 'Fatal';
}

/** API server of the cluster, with the request options for it. */
export type InCluster = Pick<FetchOptions, 'headers' | 'trust'> & {
  readonly url: string;
  /** Bearer token. */
  readonly credentials: string;
};

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Reads the in-cluster configuration. */
export function inCluster(context: ProgramContext): InCluster {
  const host = context.environment.get('KUBERNETES_SERVICE_HOST') ?? '';
  const port = context.environment.get('KUBERNETES_SERVICE_PORT') ?? '';
  if (host === '' || port === '') {
    throw new Fatal(
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    );
  }
  const credentials = `Bearer ${readText(context, `${accountFolder}/token`)}`;
  return {
    url: `https://${hostAndPort(host, Number(port))}`,
    credentials,
    headers: [['authorization', credentials]],
    trust: { authorities: readText(context, `${accountFolder}/ca.crt`) },
  };
}

export function readText({ container }: ProgramContext, path: string): string {
  return Buffer.from(container.files.read(path)).toString();
}

/** Writes a log line in the format of Go's klog. */
export function log({ container, stderr }: ProgramContext, text: string): void | Promise<void> {
  const time = new Date(container.clock.now()).toISOString().slice(0, 19).replaceAll('-', '/').replace('T', ' ');
  return writeText(stderr, `${time} ${text}\n`);
}

/** Returns the message of an expected error; other errors are rethrown. */
export function reasonOf(error: unknown): string {
  if (error instanceof FileError) return `open ${error.path}: ${error.description.toLowerCase()}`;
  const isOurs = [Fatal, ConnectError, ExchangeError, FetchTimeout].some((kind) => error instanceof kind);
  if (!isOurs && !(error instanceof SyntaxError)) throw error;
  return (error as Error).message;
}
