// node-llama-cpp with its prebuilt binaries. Run in the folder that holds its node_modules.

import {readFileSync} from "node:fs";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {pathToFileURL} from "node:url";

const folder = join(process.cwd(), "node_modules", "node-llama-cpp");
const {version, main} = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const {getLlama, LlamaChatSession} = await import(pathToFileURL(join(folder, main)).href);
const say = (record) => process.stdout.write(JSON.stringify(record) + "\n");

const lines = createInterface({input: process.stdin})[Symbol.asyncIterator]();
const settings = JSON.parse((await lines.next()).value);
const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: settings.threads});
const model = await llama.loadModel({modelPath: settings.model, gpuLayers: 0});
const context = await model.createContext({contextSize: settings.context, threads: settings.threads});
const sequence = context.getSequence();
const session = new LlamaChatSession({contextSequence: sequence});
say({ready: `node-llama-cpp ${version}`});

for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const request = JSON.parse(line.value);
    const begin = performance.now();
    let first = 0, tokens = 0;
    session.resetChatHistory();
    const {stopReason} = await session.promptWithMeta(request.prompt, {
        maxTokens: request.max_tokens,
        temperature: request.temperature,
        seed: request.seed,
        topK: 40,
        topP: 0.95,
        minP: 0.05,
        repeatPenalty: false,
        onTextChunk: () => { first ||= performance.now(); },
        onToken: (added) => { tokens += added.length; }
    });
    const seconds = (performance.now() - begin) / 1000;
    say({first: (first - begin) / 1000, seconds, tokens, cut: stopReason === "maxTokens"});
}
process.exit(0);
