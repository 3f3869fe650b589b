// node example.mjs http://127.0.0.1:8000 TOKEN
import { Api } from "./fairx.mjs";

const [baseUrl, token] = process.argv.slice(2);
const api = new Api({
  baseUrl,
  securityWorker: (found) => ({ headers: { Authorization: `Bearer ${found}` } }),
});
api.setSecurityData(token);

const policy = {
  kind: "FairXTS",
  merit: { kind: "Exponential", steepness: 3 },
  prior_std: 1,
  reward_std: 0.5,
};
await api.v1.postV1Experiments({ name: "page", arms: ["a", "b"], policy });

// Try again what may be tried again: a policy is compiled when it is first used.
async function patiently(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (answer) {
      if (answer.status !== 503) throw answer;
      const seconds = Number(answer.headers.get("retry-after") ?? 1);
      await new Promise((done) => setTimeout(done, 1000 * seconds));
    }
  }
}

const decide = () => api.v1.postV1ExperimentsNameDecide("page", { key: "visit-1" });
const first = await patiently(decide);
const again = await patiently(decide);
const rewards = [{ decision: first.decision, reward: 1 }];
const { results } = await api.v1.postV1ExperimentsNameRewards("page", { rewards });
const { answers } = await api.v1.postV1Batch({
  requests: [
    { experiment: "page", route: "decide", body: { key: "visit-1" } },
    { experiment: "page", route: "decide", body: { key: 7 } },
  ],
});
const refused = await decideWith({ key: "visit-2", candidates: ["nobody"] });
const { decisions } = await api.v1.getV1ExperimentsNameStatus("page");

async function decideWith(body) {
  try {
    return await api.v1.postV1ExperimentsNameDecide("page", body);
  } catch (answer) {
    return { status: answer.status, ...answer.error.error };
  }
}

console.log(JSON.stringify({ first, again, results, answers, refused, decisions }));
