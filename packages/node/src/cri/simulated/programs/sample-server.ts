import { installDefinitions } from '@kruise/apiserver/custom/install';
import type { KubeObject } from '@kruise/apiserver/object';
import { type ApiServer, type ServerParts, startApiServer } from '@kruise/apiserver/server';
import { createMemoryStore } from '@kruise/apiserver/store/memory';

/** Starts an in-memory API server with the kinds of these definitions. */
export async function startServerOf(
  definitions: readonly KubeObject[],
  parts: Omit<ServerParts, 'store' | 'admission'>,
): Promise<ApiServer> {
  const server = await startApiServer({ ...parts, store: createMemoryStore({ clock: parts.clock }), admission: [] });
  try {
    await installDefinitions(server.core, definitions);
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}
