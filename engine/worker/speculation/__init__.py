"""Guessing the next tokens cheaply, and letting the model look at all of them in one call.

A guess never decides anything: after the call each token is chosen by the answer's own sampler chain and grammar, in
order, from the logits that the model computed. A guessed token that is the chosen one spares the model a call of its
own; the first one that is not ends the guess, and what was computed behind it is taken out of the KV cache.
"""
