// What the SDKs of OpenAI and Anthropic for Node.js make of a door: node calls.cjs WHAT URL KEY. Prints it as JSON.
const { randomUUID } = require("node:crypto");
const Anthropic = require("@anthropic-ai/sdk").default;
const OpenAI = require("openai").default;

const [what, url, key] = process.argv.slice(2);
// As `plan` of fixtures.py.
const text = (plan = {}) => JSON.stringify({ nonce: randomUUID(), ...plan });
const messages = (plan) => [{ role: "user", content: text(plan) }];

let requests = 0;
const counted = (...request) => {
  requests += 1;
  return fetch(...request);
};
const openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, fetch: counted });
const anthropic = new Anthropic({ apiKey: key, baseURL: url, fetch: counted });

async function refused(call) {
  requests = 0;
  try {
    await call();
  } catch (error) {
    return { status: error.status, type: error.error?.error?.type ?? error.type, code: error.code, requests };
  }
  return { requests };
}

const calls = {
  async openai() {
    const models = [];
    for await (const model of openai.models.list()) models.push(model.id);
    const chat = await openai.chat.completions.create({ model: "chat", messages: messages() });
    let words = "";
    for await (const chunk of await openai.chat.completions.create({ model: "chat", messages: messages(), stream: true })) {
      for (const choice of chunk.choices) words += choice.delta.content ?? "";
    }
    const answer = await openai.responses.create({ model: "chat", input: text() });
    const events = [];
    for await (const event of await openai.responses.create({ model: "chat", input: text(), stream: true })) {
      events.push(event.type);
    }
    const embeddings = await openai.embeddings.create({ model: "chat", input: text(), encoding_format: "float" });
    return {
      models,
      chat: chat.choices[0].message.content,
      words,
      answer: answer.output_text,
      last: events.at(-1),
      embeddings: embeddings.data.length,
    };
  },
  async anthropic() {
    const request = { model: "claude-1", max_tokens: 100 };
    const whole = await anthropic.messages.create({ ...request, messages: messages() });
    const streamed = anthropic.messages.stream({ ...request, messages: messages() });
    return { output: whole.usage.output_tokens, words: await streamed.finalText() };
  },
  async refused() {
    return {
      openai: await refused(() => openai.chat.completions.create({ model: "chat", messages: messages() })),
      anthropic: await refused(() => anthropic.messages.create({ model: "claude-1", max_tokens: 9, messages: messages() })),
    };
  },
  // After two chunks, as a browser that is closed.
  async leaves() {
    const controller = new AbortController();
    const stream = await openai.chat.completions.create(
      { model: "chat", messages: messages({ chunks: 20, delay: 0.1 }), max_tokens: 500, stream: true },
      { signal: controller.signal },
    );
    let chunks = 0;
    for await (const _ of stream) {
      chunks += 1;
      if (chunks === 2) break;
    }
    controller.abort();
    return { chunks };
  },
};

calls[what]().then((found) => console.log(JSON.stringify(found)));
