import { Agent, type AgentOptions } from 'node:https';
import type { Dial } from './node-connector.ts';

/** Creates an agent that connects with `dial` where possible, and over the network otherwise. */
export function dialingAgent(dial: Dial, options: AgentOptions): Agent {
  const agent = new Agent(options);
  const connectTls = agent.createConnection.bind(agent);
  agent.createConnection = (target, connected) => {
    dial({ host: target.host ?? '', port: Number(target.port) }).then(
      (socket) => connected?.(null, connectTls({ ...target, ...(socket && { socket }) })!),
      // Node.js ignores the stream if there is an error.
      (error: Error) => connected?.(error, undefined as never),
    );
    return undefined;
  };
  return agent;
}
