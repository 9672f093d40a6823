"""Ways to use Tengen: each stands on the layers below and on no other front end."""
