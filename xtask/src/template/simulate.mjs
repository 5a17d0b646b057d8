// Reads {policies: {role: [policy]}, calls: [{action, resource, context}]} from stdin, and prints for every role and call
// whether the role's own policies allow the call, or null. The resources are of the same account.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { runSimulation } = await import(pathToFileURL(process.argv[2]));
const { account, policies, calls } = JSON.parse(readFileSync(0, "utf8"));
const answers = {};
for (const [role, documents] of Object.entries(policies)) {
  answers[role] = [];
  for (const { action, resource, context } of calls) {
    const simulation = {
      simulationMode: "Strict",
      request: {
        principal: `arn:aws:iam::${account}:role/${role}`,
        action,
        resource: { resource, accountId: account },
        contextVariables: context,
      },
      identityPolicies: documents.map((policy, index) => ({ name: `${role}${index}`, policy })),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    };
    const outcome = await runSimulation(simulation, {});
    // An action on "*" has a list of results; an error means that the action does not exist on such a resource.
    const results = outcome.result ? [outcome.result] : outcome.results;
    const allows = (result) => result.analysis.identityAnalysis.result === "Allowed";
    answers[role].push(results ? results.some(allows) : null);
  }
}
console.log(JSON.stringify(answers));
