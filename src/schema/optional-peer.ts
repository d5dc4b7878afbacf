import { ToolError } from '../kernel/error.ts';

/** Loads an optional library; without it, throws an error that names the package to install. */
export async function optionalPeer<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = `${name} is not installed. Add it to your project: npm install ${name}`;
    throw new ToolError(name, message, { code: 'NOT_CONFIGURED', cause: error });
  }
}
