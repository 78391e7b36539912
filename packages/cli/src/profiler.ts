/** CPU profiles of the process for `--enable-pprof` and `--pprof-addr`: V8's format at the path of Go's pprof. */
import { createServer, type ServerResponse } from 'node:http';
import { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@kruise/client/log';
import { isSet } from './component.ts';
import { parseListenAddress } from './listen-address.ts';

export type ProfilerFlags = { readonly enablePprof?: string | boolean; readonly pprofAddr?: string };

const defaultSeconds = 30;
const maxSeconds = 300;

/** Serves profiles if the flags enable them. An address enables them, unless they are explicitly disabled. */
export async function serveProfiles(flags: ProfilerFlags, defaultAddress: string, log: Log): Promise<() => void> {
  const { enablePprof, pprofAddr } = flags;
  const isOn = enablePprof === undefined ? Boolean(pprofAddr) : isSet('--enable-pprof', enablePprof);
  if (!isOn) return () => {};
  const { host, port } = parseListenAddress(pprofAddr || defaultAddress);
  let isBusy = false;
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    if (pathname !== '/debug/pprof/profile') return answer(response, 404, '404 page not found\n');
    const seconds = Number(searchParams.get('seconds') ?? defaultSeconds);
    if (!(seconds > 0 && seconds <= maxSeconds))
      return answer(response, 400, `seconds must be greater than 0 and at most ${maxSeconds}\n`);
    if (isBusy) return answer(response, 409, 'another profile is in progress\n');
    isBusy = true;
    try {
      answer(response, 200, await cpuProfile(seconds), 'application/json');
    } finally {
      isBusy = false;
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  log.info({ host, port: (server.address() as AddressInfo).port }, 'serving profiles at /debug/pprof/profile');
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function answer(response: ServerResponse, code: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, { 'content-type': type });
  response.end(text);
}

/** Returns a CPU profile that DevTools and speedscope can read (`.cpuprofile`). */
async function cpuProfile(seconds: number): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await sleep(seconds * 1000);
    const { profile } = await session.post('Profiler.stop');
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}
